package workload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/quantity"
)

// Every entry of the registry must be usable: a unit that exists, a default that
// its own type accepts, a definition, a name that is there once.
func TestRegistryIsSound(t *testing.T) {
	for _, k := range Kinds() {
		seen := map[string]bool{}
		for _, o := range k.Options {
			if seen[o.Name] || o.Doc == "" {
				t.Errorf("%s: option %q is there twice or has no words", k.Name, o.Name)
			}
			seen[o.Name] = true
			if o.Default == nil {
				if !o.Required && o.RanksOf == "" && o.Item != OnlyItem && !slices.Contains(k.OneOf, o.Name) {
					t.Errorf("%s: option %s has no default and nothing that stands for it", k.Name, o.Name)
				}
				continue
			}
			v, err := o.Parse(Text(o.Default))
			if err != nil || v != o.Default {
				t.Errorf("%s: default of %s reads as %#v, %v", k.Name, o.Name, v, err)
			}
		}
		for _, m := range k.Metrics {
			if seen[m.Name] || m.Doc == "" {
				t.Errorf("%s: metric %q is there twice, hides an option or has no definition", k.Name, m.Name)
			}
			seen[m.Name] = true
			m.Dim() // panics on an unknown unit
		}
	}
	if _, ok := Lookup("transfr"); ok {
		t.Error("found a workload that is none")
	}
	if m, ok := FindMetric("transfer", "latency.p99"); !ok || m.Unit != "s" || m.Better != Lower {
		t.Errorf("latency.p99 is %+v, %v", m, ok)
	}
}

func TestParseOption(t *testing.T) {
	for _, c := range []struct {
		option, text string
		want         any
		wrong        string
	}{
		{"block_size", "64MiB", quantity.Size(64 << 20), ""},
		{"block_size", "0", nil, "0B is below the least block_size, which is 1B"},
		{"block_size", "2TiB", nil, "above the largest"},
		{"block_size", "64 M", nil, "MiB or MB"},
		{"iterations", "1_000", int64(1000), ""},
		{"iterations", "1e3", nil, "not a whole number"},
		{"iterations", "0", nil, "below the least"},
		{"op", "read", "read", ""},
		{"op", "READ", nil, "not one of write, read"},
		{"ranks", "1", nil, "below the least ranks, which is 2"},
		{"ranks", "8193", nil, "above the largest ranks, which is 8192"},
	} {
		o, ok := Transfer.Option(c.option)
		if !ok {
			t.Fatalf("no option %s", c.option)
		}
		got, err := o.Parse(c.text)
		switch {
		case c.wrong == "" && (err != nil || got != c.want):
			t.Errorf("%s %q = %#v, %v", c.option, c.text, got, err)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s %q: error %v, want %q", c.option, c.text, err, c.wrong)
		}
	}
}

// The planner asks Check once for all cases that differ in other options than those
// of Checked only: these must not change the answer.
func TestCheckLooksAtOptionsOfCheckedOnly(t *testing.T) {
	draw := func(rt *rapid.T, o Option, label string) any {
		text := map[string][]string{
			"block_size": {"1", "4KiB", "1TiB"}, "batch": {"1", "7", "1048576"}, "iterations": {"1", "3", "100"}, "ranks": {"2", "3", "4", "9"}, "duration": {"0", "1ms"},
			"nixl_backend": {"UCX", "no name"}, "provider": {"", "tcp"},
			"matrix": {"2: 0>1=5", "3: 0>1=5,2=70000", "0 4K\n1 0"}, "matrix_file": {"m.txt"}, "generate": {"uniform 4KiB", "incast 1B target=3", "block_diagonal 1MiB block=2"},
		}[o.Name]
		switch {
		case text != nil:
		case o.Type == Enum:
			text = o.Values
		case o.Type == Bool:
			text = []string{"true", "false"}
		case o.Type == Failures:
			text = []string{"", "launch 1 rank 5 run", "10% connect"}
		case o.Type == Params:
			text = []string{"", "a=b", "a=b;c=d"}
		case o.Type == Time:
			text = []string{quantity.Time(o.Min).String(), "1ms"}
		case o.Type == Rate:
			text = []string{"1B/s", "10GB/s"}
		case o.Type == Percent:
			text = []string{"0%", "50%"}
		default:
			text = []string{fmt.Sprint(o.Min), fmt.Sprint(max(o.Min, 5)), fmt.Sprint(o.Max)}
		}
		v, err := o.Parse(rapid.SampledFrom(text).Draw(rt, label))
		if err != nil {
			rt.Fatalf("%s: %v", o.Name, err)
		}
		return v
	}
	for _, k := range Kinds() {
		for _, o := range k.Options {
			if slices.Contains(k.Checked, o.Name) {
				continue
			}
			rapid.Check(t, func(rt *rapid.T) {
				v := Values{}
				if rapid.Bool().Draw(rt, "few iterations") { // which chance finds too seldom
					v["pattern"], v["ranks"], v["iterations"] = "all_to_all", int64(9), int64(7)
				}
				if len(k.OneOf) > 0 && rapid.Bool().Draw(rt, "generated") {
					generate, _ := k.Option("generate")
					v["generate"], v["ranks"] = draw(rt, generate, "generator"), int64(4)
				}
				for _, other := range k.Options {
					if other.Required || rapid.IntRange(0, 4).Draw(rt, "set") == 0 { // mostly defaults, which go together
						v[other.Name] = draw(rt, other, other.Name)
					}
				}
				for name, value := range o.For {
					v[name] = value
				}
				v[o.Name] = draw(rt, o, "one value")
				one := k.Check(v)
				v[o.Name] = draw(rt, o, "another")
				if another := k.Check(v); fmt.Sprint(one) != fmt.Sprint(another) {
					rt.Fatalf("%s is not of Checked, and with another value %v became %v", o.Name, one, another)
				}
			})
		}
	}
}

// What a plan or result document holds must read back as what was written.
func TestValuesSurviveJSON(t *testing.T) {
	in := Values{"block_size": quantity.Size(1 << 20), "iterations": int64(1000), "op": "read"}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"block_size":"1MiB","iterations":1000,"op":"read"}`; string(b) != want {
		t.Errorf("got %s", b)
	}
	var raw map[string]any
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatal(err)
	}
	out, err := Transfer.Normalize(raw)
	if err != nil {
		t.Fatal(err)
	}
	for name := range in {
		if out[name] != in[name] {
			t.Errorf("%s came back as %#v", name, out[name])
		}
	}
	for _, bad := range []map[string]any{{"nonsense": 1.}, {"iterations": 1.5}, {"op": "push"}} {
		if v, err := Transfer.Normalize(bad); err == nil {
			t.Errorf("%v was read as %v", bad, v)
		}
	}
}

func TestDecodeTransfer(t *testing.T) {
	o, err := DecodeTransfer(Values{"block_size": quantity.Size(8)})
	if err != nil {
		t.Fatal(err)
	}
	if o.BlockSize != 8 || o.Iterations != 100 || o.Fabric != "auto" || o.Ranks != 2 || o.InFlight != 16 || o.Verify != "sample" {
		t.Errorf("defaults are %+v", o)
	}
	// the clock decides then, and moves one to each target in any case
	if _, err := DecodeTransfer(Values{"block_size": quantity.Size(8), "ranks": int64(9), "pattern": "all_to_all", "iterations": int64(7), "duration": quantity.Time(1)}); err != nil {
		t.Errorf("few iterations, which a duration overrules: %v", err)
	}
	if o, err := DecodeTransfer(Values{"block_size": quantity.Size(8), "ranks": int64(8192), "fabric": SimFabric}); err != nil || o.Ranks != 8192 {
		t.Errorf("ranks that are simulated: %v", err)
	}
	if o, err := DecodeTransfer(Values{"block_size": quantity.Size(8), "fabric": "ucx", "alloc": "heap", "pages": "2MiB"}); err != nil || !o.Heap() {
		t.Errorf("pages of the rank's own memory: %v", err)
	}
	for want, v := range map[string]Values{
		"block_size is missing":                   {},
		"even number of ranks":                    {"block_size": quantity.Size(8), "ranks": int64(3)},
		"has no op read":                          {"block_size": quantity.Size(8), "mode": "pingpong", "op": "read"},
		"option op is int, not a stri":            {"block_size": quantity.Size(8), "op": 3},
		"has only pattern pairwise, not ring":     {"block_size": quantity.Size(8), "mode": "pingpong", "pattern": "ring"},
		"bidirectional is of pattern pairwise":    {"block_size": quantity.Size(8), "bidirectional": true, "pattern": "ring"},
		"it cannot be bidirectional":              {"block_size": quantity.Size(8), "bidirectional": true, "mode": "pingpong"},
		"reuse spread has no meaning":             {"block_size": quantity.Size(8), "mode": "pingpong", "reuse": "spread"},
		"at least 8 iterations":                   {"block_size": quantity.Size(8), "ranks": int64(9), "pattern": "all_to_all", "iterations": int64(7)},
		"only fabric sim, which starts no":        {"block_size": quantity.Size(8), "ranks": int64(1026)},
		"fabric ucx allocates the buffers itself": {"block_size": quantity.Size(8), "fabric": "ucx", "pages": "2MiB"},
		"private memory cannot be mapped":         {"block_size": quantity.Size(8), "fabric": "shm", "alloc": "heap"},
		"option numa: \"1024\" is neither":        {"block_size": quantity.Size(8), "numa": "1024"},
		"room for 6 requests of 1048576 blocks":   {"block_size": quantity.Size(1 << 40), "batch": int64(1 << 20), "ranks": int64(4), "pattern": "all_to_all"},
		"option duration is int, not a time":      {"block_size": quantity.Size(8), "duration": 3},
	} {
		if _, err := DecodeTransfer(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", v, err, want)
		}
	}
}
