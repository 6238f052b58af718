package model

import (
	"errors"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/matrix"
)

// example is the published one, by its named values.
var example = map[string]string{
	"model": "llama-405b", "isl": "16000", "requests": "1", "prefill_nodes": "1", "decode_nodes": "1",
	"prefill_tp": "8", "decode_tp": "8",
}

// without removes a value of the example.
const without = "-"

// spec is the example with other values.
func spec(tb testing.TB, changes map[string]string) *Spec {
	tb.Helper()
	s := NewSpec()
	s.Open = func(path string) (io.ReadCloser, error) {
		files := map[string]string{
			"config.json": `{"num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "torch_dtype": "bfloat16"}`,
			"broken.json": "{\n\"num_hidden_layers\": four}",
			"trace.jsonl": "{\"timestamp\": 0, \"input_length\": 5}\n{\"timestamp\": 9, \"input_length\": 6}\n",
		}
		text, ok := files[path]
		if !ok {
			return nil, errors.New("there is no " + path)
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
	values := maps.Clone(example)
	maps.Copy(values, changes)
	for name, text := range values {
		if text == without {
			continue
		}
		if err := s.Set(name, text); err != nil {
			tb.Fatalf("%s %q: %v", name, text, err)
		}
	}
	return s
}

func TestASpecIsThePublishedExample(t *testing.T) {
	c, ps, err := spec(t, nil).Patterns()
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 1 || c.Ranks() != 16 || matrix.Rounded(ps[0].Matrix.At(0, 8)) != "984.38M" ||
		math.Abs(ps[0].SleepBefore-37.404803072) > 1e-12 {
		t.Errorf("%d patterns between %d ranks: %+v", len(ps), c.Ranks(), ps)
	}
}

// An error names the field to change.
func TestWrongSpecsNameTheirField(t *testing.T) {
	for _, c := range []struct {
		changes     map[string]string
		field, says string
	}{
		{map[string]string{"model": "lama-405b"}, "model", `Did you mean "llama-405b"?`},
		{map[string]string{"model": without}, "",
			"nothing says which model it is: give one of <model> NAME and <config> FILE"},
		{map[string]string{"config": "config.json"}, "config", "<model> and <config> both say"},
		{map[string]string{"model": without, "config": "absent.json"}, "config", "there is no absent.json"},
		{map[string]string{"model": without, "config": "broken.json"}, "config", "broken.json:2:"},
		{map[string]string{"kv_dtype": "fp4"}, "kv_dtype", "<kv_dtype>: unknown type"},
		{map[string]string{"requests": "0"}, "requests", "<requests> 0: give a number from 1"},
		{map[string]string{"isl": "gauss:5"}, "isl", "<isl>: \"gauss:5\" is no distribution"},
		{map[string]string{"osl": "fixed:0"}, "osl", "<osl>: "},
		{map[string]string{"isl": without, "trace": "trace.jsonl", "osl": "5"}, "osl",
			"<osl> has no effect with <trace>"},
		{map[string]string{"isl": without, "trace": "absent"}, "trace", "there is no absent"},
		{map[string]string{"isl": without, "trace": "broken.json"}, "trace", "broken.json:1"},
		{map[string]string{"prefill_nodes": without}, "prefill_nodes", "<prefill_nodes> 0: give a number from 1"},
		{map[string]string{"gpus_per_node": "-1"}, "gpus_per_node", "<gpus_per_node> -1"},
		{map[string]string{"prefill_nodes": "60000"}, "prefill_nodes", "there are at most 65536"},
		{map[string]string{"prefill_tp": "3"}, "prefill_tp", "prefill: 8 KV heads cannot be divided"},
		{map[string]string{"decode_tp": "16"}, "decode_nodes", "decode: 8 ranks cannot be divided"},
		{map[string]string{"decode_pp": "0"}, "decode_pp", "each is above 0"},
		{map[string]string{"decode_cp": "5000"}, "decode_cp", "at most 4096 ranks"},
		{map[string]string{"prefill_pp": "127"}, "prefill_pp", "127 stages for 126 layers"},
		{map[string]string{"batch_size": "0"}, "batch_size", "batches of 0"},
		{map[string]string{"sleep": "guess"}, "sleep", "unknown rule"},
		{map[string]string{"flops": "0"}, "flops", "operations per second"},
		{map[string]string{"rail_optimized": "true", "decode_pp": "2", "decode_nodes": "2"}, "rail_optimized",
			"order by rails"},
		{map[string]string{"bytes_scale": "0"}, "bytes_scale", "above 0 and at most 1"},
		{map[string]string{"bytes_scale": "NaN"}, "bytes_scale", "above 0 and at most 1"},
		{map[string]string{"bytes_scale": "1.5"}, "bytes_scale", "above 0 and at most 1"},
	} {
		s := spec(t, c.changes)
		s.Spell = func(name string) string { return "<" + name + ">" }
		_, _, err := s.Patterns()
		field := ""
		if e, ok := errors.AsType[*FieldError](err); ok {
			field = e.Field
		}
		if err == nil || field != c.field || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %q is due to %q, want %q with %q", c.changes, err, field, c.field, c.says)
		}
	}
}

func TestValuesOfOtherTypesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"requests": "many", "seed": "-1", "flops": "fast", "no_windows": "yes", "max_batch_memory": "5x",
		"min_isl": "1.5", "nothing": "1", "bytes_scale": "1%",
	} {
		if err := NewSpec().Set(name, text); err == nil {
			t.Errorf("%s takes %q", name, text)
		}
	}
}

// Giving a default equals leaving it out.
func TestEveryFieldTakesItsDefault(t *testing.T) {
	s := spec(t, nil)
	for _, f := range Fields() {
		if example[f.Name] == "" && f.Default() != "" {
			if err := s.Set(f.Name, f.Default()); err != nil || f.text(s) != f.Default() {
				t.Errorf("%s: default %q is %q, %v", f.Name, f.Default(), f.text(s), err)
			}
		}
		if f.Doc == "" || f.Type == "" || f.Name != strings.ToLower(f.Name) {
			t.Errorf("field %+v", f)
		}
	}
	if _, ps, err := s.Patterns(); err != nil || matrix.Rounded(ps[0].Matrix.At(7, 15)) != "984.38M" {
		t.Errorf("%v, %v", ps, err)
	}
}

// A scale keeps the pairs of senders and receivers, and each cell within half a byte, or its minimum of one byte.
func TestAScaleKeepsTheShape(t *testing.T) {
	m := lookup(t, "llama-8b")
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Float64Range(1e-9, 1).Draw(t, "scale")
		c := served(m, 1<<rapid.IntRange(0, 3).Draw(t, "prefill"), 1<<rapid.IntRange(0, 4).Draw(t, "decode"))
		requests := []Request{{ISL: rapid.IntRange(1, 100000).Draw(t, "isl")}}
		whole, err := Generate(c, requests)
		if err != nil {
			t.Fatal(err)
		}
		c.BytesScale = scale
		small, err := Generate(c, requests)
		if err != nil {
			t.Fatal(err)
		}
		a, b := whole[0].Matrix, small[0].Matrix
		if a.NonZero() != b.NonZero() || whole[0].SleepBefore != small[0].SleepBefore {
			t.Fatalf("%d cells became %d, a sleep of %v one of %v", a.NonZero(), b.NonZero(), whole[0].SleepBefore,
				small[0].SleepBefore)
		}
		for cell := range a.Cells() {
			want := math.Max(1, float64(cell.Bytes)*scale)
			if got := float64(b.At(cell.From, cell.To)); math.Abs(got-want) > 0.5 {
				t.Fatalf("%d bytes became %v, want %v", cell.Bytes, got, want)
			}
		}
		said, ok := small[0].Lookup("bytes_scale")
		if v, err := strconv.ParseFloat(said, 64); ok != (scale != 1) || ok && (err != nil || v != scale) {
			t.Fatalf("the metadata says %q of %v", said, scale)
		}
		if _, ok := whole[0].Lookup("bytes_scale"); ok {
			t.Fatal("a scale of 1 is said")
		}
	})
}
