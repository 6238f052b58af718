package transfer

import (
	"encoding/json"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"strings"
	"testing"
)

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
		o, ok := Kind.Option(c.option)
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

// Values of a plan or result document read back as written.
func TestValuesSurviveJSON(t *testing.T) {
	in := option.Values{"block_size": quantity.Size(1 << 20), "iterations": int64(1000), "op": "read"}
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
	out, err := Kind.Normalize(raw)
	if err != nil {
		t.Fatal(err)
	}
	for name := range in {
		if out[name] != in[name] {
			t.Errorf("%s came back as %#v", name, out[name])
		}
	}
	for _, bad := range []map[string]any{{"nonsense": 1.}, {"iterations": 1.5}, {"op": "push"}} {
		if v, err := Kind.Normalize(bad); err == nil {
			t.Errorf("%v was read as %v", bad, v)
		}
	}
}

func TestDecodeTransfer(t *testing.T) {
	o, err := Decode(option.Values{"block_size": quantity.Size(8)})
	if err != nil {
		t.Fatal(err)
	}
	if o.BlockSize != 8 || o.Iterations != 100 || o.Fabric != "auto" || o.Ranks != 2 || o.InFlight != 16 ||
		o.Verify != "sample" {
		t.Errorf("defaults are %+v", o)
	}
	// the clock decides; each target gets at least one request
	if _, err := Decode(option.Values{"block_size": quantity.Size(8), "ranks": int64(9), "pattern": "all_to_all",
		"iterations": int64(7), "duration": quantity.Time(1)}); err != nil {
		t.Errorf("few iterations, which a duration overrules: %v", err)
	}
	if o, err := Decode(option.Values{"block_size": quantity.Size(8), "ranks": int64(8192),
		"fabric": fabric.SimName}); err != nil || o.Ranks != 8192 {
		t.Errorf("ranks that are simulated: %v", err)
	}
	if o, err := Decode(option.Values{"block_size": quantity.Size(8), "fabric": "ucx", "alloc": "heap",
		"pages": "2MiB"}); err != nil || !o.Heap() {
		t.Errorf("pages of the rank's own memory: %v", err)
	}
	for want, v := range map[string]option.Values{
		"block_size is missing":            {},
		"even number of ranks":             {"block_size": quantity.Size(8), "ranks": int64(3)},
		"has no op read":                   {"block_size": quantity.Size(8), "mode": "pingpong", "op": "read"},
		"option op is int, not a stri":     {"block_size": quantity.Size(8), "op": 3},
		"needs pattern pairwise, not ring": {"block_size": quantity.Size(8), "mode": "pingpong", "pattern": "ring"},
		"bidirectional needs pattern pairwise": {
			"block_size": quantity.Size(8), "bidirectional": true, "pattern": "ring",
		},

		"it cannot be bidirectional":  {"block_size": quantity.Size(8), "bidirectional": true, "mode": "pingpong"},
		"reuse spread has no meaning": {"block_size": quantity.Size(8), "mode": "pingpong", "reuse": "spread"},
		"at least 8 iterations": {
			"block_size": quantity.Size(8), "ranks": int64(9), "pattern": "all_to_all", "iterations": int64(7),
		},
		"only fabric sim, which starts no": {"block_size": quantity.Size(8), "ranks": int64(1026)},

		"fabric ucx allocates the buffers itself": {"block_size": quantity.Size(8), "fabric": "ucx", "pages": "2MiB"},
		"private memory cannot be mapped":         {"block_size": quantity.Size(8), "fabric": "shm", "alloc": "heap"},
		"option numa: \"1024\" is not default":    {"block_size": quantity.Size(8), "numa": "1024"},
		"room for 6 requests of 1048576 blocks": {
			"block_size": quantity.Size(1 << 40), "batch": int64(1 << 20), "ranks": int64(4), "pattern": "all_to_all",
		},
		"option duration is int, not a time": {"block_size": quantity.Size(8), "duration": 3},
	} {
		if _, err := Decode(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", v, err, want)
		}
	}
}
