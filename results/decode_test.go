package results

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// tags are the JSON names of a struct's members, in order.
func tags(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

func TestEveryMemberIsDecoded(t *testing.T) {
	for _, c := range []struct {
		of    any
		names []string
	}{{Case{}, caseFields}, {Launch{}, launchFields}, {RankShare{}, shareFields}, {MetricEstimate{}, estimateFields}, {Observed{}, observedFields}} {
		if diff := cmp.Diff(tags(reflect.TypeOf(c.of)), c.names); diff != "" {
			t.Errorf("%T: %s", c.of, diff)
		}
	}
}

// storedCases are those of the documents that reporters are tested with.
func storedCases(t testing.TB) [][]byte {
	t.Helper()
	paths, err := filepath.Glob("../reporters/testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	var out [][]byte
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var d struct{ Cases []json.RawMessage }
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Cases {
			out = append(out, c)
		}
	}
	return out
}

// What the scanner takes, it reads as encoding/json does.
func sameCase(t *testing.T, text []byte) (scanned bool) {
	t.Helper()
	s := &scan{text: text, kept: newKept()}
	got := s.readCase()
	if s.bad || s.next() != 0 {
		return false
	}
	want := new(Case)
	if err := json.Unmarshal(text, want); err != nil {
		t.Fatalf("read %q, of which encoding/json says: %v", text, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Fatalf("read %q otherwise: %s", text, diff)
	}
	return true
}

func TestScannerReadsWhatWeirWrites(t *testing.T) {
	for _, text := range storedCases(t) {
		if !sameCase(t, text) {
			t.Errorf("left to encoding/json: %s", text)
		}
	}
	odd := `{"key": "a\"b", "reason": "größer", "launches": [{"metrics": {"x": "NaN", "y": "-Infinity", "z": -0.5e-3}}], "metrics": null, "options": {"a": [1, {"b": null}]}}`
	if !sameCase(t, []byte(odd)) {
		t.Error("an odd case is left to encoding/json")
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range storedCases(f) {
		if len(text) < 4<<10 {
			f.Add(text)
		}
	}
	f.Add([]byte(`{"key":"a","launches":[{"index":0,"metrics":{"bandwidth":1e-3}}],"assertions":[{"name":"n","verdict":"pass","observed":{"value":1,"ci":[0,2]},"message":"m"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) { sameCase(t, text) })
}

func TestNumbersAreWrittenAsJSONDoes(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e-9, -1e-10, 1e20, 1e21, 1.234e100, math.MaxFloat64, math.SmallestNonzeroFloat64, 46.48} {
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendNumber(nil, v); !bytes.Equal(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, text := range []string{"bandwidth", "a\"b", `a\b`, "<&>", "größer", "\x01", ""} {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText(nil, text); !bytes.Equal(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// However a document is laid out, on however many processors, it is the same one.
func TestLayoutsAreAlike(t *testing.T) {
	for _, path := range []string{"failed", "passed", "traffic"} {
		b, err := os.ReadFile("../reporters/testdata/" + path + ".json")
		if err != nil {
			continue
		}
		var want Document
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		lined, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var indented, dense bytes.Buffer
		if err := json.Indent(&indented, lined, "", "  "); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&dense, lined); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"lined": lined, "indented": indented.Bytes(), "dense": dense.Bytes()} {
			byCase, err := decodeByCase(bytes.NewReader(text))
			if (err == nil) != (name != "dense") {
				t.Errorf("%s, %s: %v", path, name, err)
			}
			whole, err := decode(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []*Document{byCase, whole} {
				if diff := cmp.Diff(&want, got, cmpopts.EquateNaNs()); got != nil && diff != "" {
					t.Errorf("%s, %s: %s", path, name, diff)
				}
			}
		}
		if n := len(bytes.Split(lined, []byte("\n"))); n > len(bytes.Split(indented.Bytes(), []byte("\n")))/2 {
			t.Errorf("%s has %d lines", path, n)
		}
	}
}

// A line that only looks like the end of a case does not mislead.
func TestLinesThatMislead(t *testing.T) {
	for name, text := range map[string]string{
		"cases elsewhere":    "{\n  \"baseline\": {\n  \"cases\": [\n    {\n\"key\": \"x\"\n    }\n  ]}, \"cases\": [{\"key\": \"a\"}]\n}",
		"twice":              "{\n  \"cases\": [\n    {\"key\": \"a\"\n    }\n  ],\n  \"cases\": [\n    {\"key\": \"b\"\n    }\n  ]\n}",
		"an end within":      "{\n  \"cases\": [\n    {\"key\": \"a\", \"options\": {\n    },\n \"run\": \"r\"}]}",
		"something between":  "{\n  \"cases\": [\n    {\"key\": \"a\"\n    }\n, {\"key\": \"b\"}\n  ]\n}",
		"no end":             "{\n  \"cases\": [\n    {\"key\": \"a\"\n    },\n",
		"a comma and no end": "{\n  \"cases\": [\n    {\"key\": \"a\"\n    },\n  ]\n}",
	} {
		var want Document
		wrong := json.Unmarshal([]byte(text), &want)
		got, err := decode(strings.NewReader(text))
		if (wrong == nil) != (err == nil) {
			t.Errorf("%s: %v, where encoding/json says %v", name, err, wrong)
		} else if err == nil && !cmp.Equal(&want, got) {
			t.Errorf("%s: %s", name, cmp.Diff(&want, got))
		}
	}
}

func BenchmarkDocument(b *testing.B) {
	var one Document
	text, err := os.ReadFile("../reporters/testdata/failed.json")
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(text, &one); err != nil {
		b.Fatal(err)
	}
	large := one
	large.Cases = slices.Repeat(one.Cases, 10_000/len(one.Cases))
	if text, err = large.Encode(); err != nil {
		b.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"read":  func() error { _, err := decode(bytes.NewReader(text)); return err },
		"write": func() error { _, err := large.Encode(); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
		})
	}
}
