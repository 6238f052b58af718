package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/matrix"
	"weir/quantity"
)

func TestParseMatrix(t *testing.T) {
	for _, c := range []struct{ text, want, wrong string }{
		{"2: 0>1=5", "2: 0>1=5", ""},
		{" 3: 2>0=7,1=1 0>1=5 ", "3: 0>1=5 2>0=7,1=1", ""},
		{"0 4K\n1 0", "2: 0>1=4096 1>0=1", ""},
		{"\n  0 1.5K # to 1\n\n  2m 0\n", "2: 0>1=1536 1>0=2097152", ""},
		{"", "", "line 1, column 1: The file has no cells"},
		{"0 1\n5x 0", "", `line 2, column 1: "5x" ends with "x", and the suffixes are K, M and G`},
		{"0 1\n1 0 0", "", "line 2, column 5: Row 2 has more than the 2 cells"},
		{"0 -1\n1 0", "", "line 1, column 3: \"-1\" is negative"},
		{"0 9223372036854775807\n1 0", "", "line 2, column 1: With this cell the cells add up to 2^63 bytes or more"},
		{"0 0\n0 0", "", "all cells are 0, so nothing would move"},
		{"7", "", "a matrix of 1 ranks: traffic is between 2 to 1024"},
		{"1025: 0>1=1", "", "a matrix of 1025 ranks"},
		{"0 1\n0 8K", "2: 0>1=1 1>1=8192", ""},
		{"2: 1>1=8", "", "all cells but those of ranks with themselves are 0"},
		{"2: 0>1=1099511627777", "", "a cell has 1099511627777B, which is more than 1TiB"},
		{"2: 0>2=5", "", "the ranks are 0 to 1"},
	} {
		o, _ := Traffic.Option("matrix")
		got, err := o.Parse(c.text)
		switch {
		case c.wrong == "" && (err != nil || got != c.want):
			t.Errorf("%q = %#v, %v, want %q", c.text, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%q: error %v, want %q", c.text, err, c.wrong)
		}
	}
}

func TestParseCell(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "4096": 4096, "1.5K": 1536, "64m": 64 << 20, "2G": 2 << 30, "5B": 5, "4KiB": 4096, "4 MiB": 4 << 20, "1kB": 1000, "1e3": 1000} {
		if got, err := ParseCell(text); err != nil || got != want {
			t.Errorf("%q = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "-4KiB", "5T", "1 2", "5us"} {
		if got, err := ParseCell(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestParseGenerated(t *testing.T) {
	for _, c := range []struct{ text, want, wrong string }{
		{"uniform 4MiB", "uniform 4MiB", ""},
		{"  ring   1024KiB ", "ring 1MiB", ""},
		{"incast 4096", "incast 4KiB target=0", ""},
		{"incast 4MiB target=03", "incast 4MiB target=3", ""},
		{"outcast 4MiB source=2", "outcast 4MiB source=2", ""},
		{"permutation 4MiB", "permutation 4MiB seed=1", ""},
		{"block_diagonal 4MiB block=4", "block_diagonal 4MiB block=4", ""},
		{"sparse 4MiB seed=7 peers=2", "sparse 4MiB peers=2 seed=7", ""},
		{"zipf 4MiB exponent=1.20", "zipf 4MiB exponent=1.2 seed=1", ""},
		{"zipf 4MiB", "zipf 4MiB exponent=1 seed=1", ""},
		{"", "", "names no generator: there are uniform, ring, incast"},
		{"unifrom 4MiB", "", `"unifrom" is no generator: there are uniform`},
		{"uniform", "", `uniform has no size: write it like "uniform 4MiB"`},
		{"uniform 4M", "", "MiB or MB"},
		{"uniform 0", "", "the size 0B is not from 1B to 1TiB"},
		{"uniform 2TiB", "", "the size 2TiB is not from 1B"},
		{"uniform target=0", "", "after the name of a generator comes a size"},
		{"uniform 4MiB seed=1", "", "uniform takes nothing besides its size, and no seed"},
		{"incast 4MiB 3", "", `"3" is out of place`},
		{"incast 4MiB source=3", "", `incast has no parameter "source": there is target`},
		{"incast 4MiB target=1 target=2", "", "target is given twice"},
		{"incast 4MiB target=1.5", "", "target=1.5: it is a whole number from 0 to 1023"},
		{"incast 4MiB target=-1", "", "it is a whole number"},
		{"zipf 4MiB exponent=101", "", "exponent=101: it is a number from 0 to 100"},
		{"zipf 4MiB exponent=nan", "", "it is a number"},
		{"zipf 4MiB exponent=0x1p3", "", "it is a number"},
		{"sparse 4MiB", "", "sparse needs peers=…"},
	} {
		o, _ := Traffic.Option("generate")
		got, err := o.Parse(c.text)
		switch {
		case c.wrong == "" && (err != nil || got != c.want):
			t.Errorf("%q = %#v, %v, want %q", c.text, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%q: error %v, want %q", c.text, err, c.wrong)
		}
	}
}

// Every generator of the registry gives what package matrix gives for its words.
func TestGeneratorsMakeTheirMatrices(t *testing.T) {
	want := map[string]func() (*matrix.Matrix, error){
		"uniform 5B":                   func() (*matrix.Matrix, error) { return matrix.Uniform(6, 5) },
		"ring 5B":                      func() (*matrix.Matrix, error) { return matrix.Ring(6, 5) },
		"incast 5B target=2":           func() (*matrix.Matrix, error) { return matrix.Incast(6, 2, 5) },
		"outcast 5B source=5":          func() (*matrix.Matrix, error) { return matrix.Outcast(6, 5, 5) },
		"permutation 5B seed=9":        func() (*matrix.Matrix, error) { return matrix.Permutation(6, 5, 9) },
		"block_diagonal 5B block=3":    func() (*matrix.Matrix, error) { return matrix.BlockDiagonal(6, 3, 5) },
		"sparse 5B peers=2 seed=9":     func() (*matrix.Matrix, error) { return matrix.RandomSparse(6, 2, 5, 9) },
		"zipf 500B exponent=.5 seed=9": func() (*matrix.Matrix, error) { return matrix.Zipf(6, 500, 0.5, 9) },
	}
	if len(want) != len(generators) {
		t.Errorf("%d of %d generators", len(want), len(generators))
	}
	for text, same := range want {
		g, err := ParseGenerated(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Matrix(6)
		if err != nil {
			t.Fatal(err)
		}
		if expected, err := same(); err != nil || got.Compact() != expected.Compact() {
			t.Errorf("%s: %s, want %s, %v", text, got.Compact(), expected.Compact(), err)
		}
		if !strings.Contains(generatorDocs(), g.generator.name) {
			t.Errorf("%s is not in the documentation", g.generator.name)
		}
	}
}

// A plan checks what is generated without generating it: it refuses the same.
func TestWhatIsGeneratedIsCheckedAsItWouldBeMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{
			"uniform 5B", "ring 1TiB", "uniform 1TiB", "incast 5B target=%d", "outcast 5B source=%d", "permutation 5B seed=%d", "block_diagonal 5B block=%d", "sparse 5B peers=%d", "zipf 1B", "zipf 5KiB exponent=%d",
		}).Draw(t, "generator")
		if strings.Contains(text, "%d") {
			text = fmt.Sprintf(text, rapid.IntRange(0, 9).Draw(t, "parameter"))
		}
		v := Values{"generate": text, "ranks": rapid.Int64Range(2, 9).Draw(t, "ranks"), "fabric": rapid.SampledFrom([]string{"shm", "sim"}).Draw(t, "fabric")}
		_, err := DecodeTraffic(v)
		if checked := Traffic.Check(v); fmt.Sprint(checked) != fmt.Sprint(err) {
			t.Fatalf("%v is made with %v and checked with %v", v, err, checked)
		}
	})
}

func TestDecodeTraffic(t *testing.T) {
	o, err := DecodeTraffic(Values{"matrix": "4: 0>1=1048576,2=5 3>0=7"})
	if err != nil {
		t.Fatal(err)
	}
	if o.Pattern != "matrix" || o.Mode != "stream" || o.Ranks != 4 || o.BlockSize != 1<<20 || o.Batch != 1 || o.Threads != 1 || o.Shards != 1 || o.InFlight != 2 ||
		o.Iterations != 50 || o.Warmup != 10 || o.Reuse != "hot" || o.Payload != "random" || o.Initiator != "dram" || o.Target != "dram" || o.Matrix.Total() != 1<<20+12 || o.Verify != "sample" {
		t.Errorf("%+v", o)
	}
	o, err = Traffic.Decode(Values{"generate": "ring 4KiB", "ranks": int64(3), "memory": "vram", "op": "read", "shards": int64(4), "fabric": "ucx"})
	if err != nil || o.Matrix.Compact() != "3: 0>1=4096 1>2=4096 2>0=4096" || o.Op != "read" || o.Initiator != "vram" || o.Target != "vram" || o.Shards != 4 || o.API != "rma" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = DecodeTraffic(Values{"matrix": "2: 0>1=5", "fabric": "nixl"}); err != nil || o.Nixl == nil || o.Nixl.Backend != "UCX" {
		t.Errorf("%+v, %v", o, err)
	}
	if k, _ := Lookup("transfer"); k.Name != "transfer" {
		t.Error(k)
	} else if o, err := k.Decode(Values{"block_size": quantity.Size(8)}); err != nil || o.Matrix != nil || o.BlockSize != 8 {
		t.Errorf("%+v, %v", o, err)
	}
	for want, v := range map[string]Values{
		"one of the options matrix, matrix_file and generate": {},
		"is said by one of":                                    {"matrix": "2: 0>1=5", "generate": "ring 1B", "ranks": int64(2)},
		"option generate needs the option ranks":               {"generate": "ring 1B"},
		"it is of 2 ranks, and the option ranks says 3":        {"matrix": "2: 0>1=5", "ranks": int64(3)},
		"3 ranks: 3 ranks cannot be divided into groups of 2":  {"generate": "block_diagonal 1B block=2", "ranks": int64(3)},
		"rank 5 is none of the 3 ranks":                        {"generate": "incast 1B target=5", "ranks": int64(3)},
		"fabric sim has no model":                              {"matrix": "2: 0>1=5", "fabric": "sim"},
		"api tag of fabric ucx posts receives ahead":           {"matrix": "2: 0>1=5", "fabric": "ucx", "api": "tag"},
		"nothing in them reads from the target's memory":       {"matrix": "2: 0>1=5", "fabric": "ucx", "api": "am", "op": "read"},
		"fabric ucx allocates the buffers itself":              {"matrix": "2: 0>1=5", "fabric": "ucx", "pages": "thp"},
		"option shards is int, not a count":                    {"matrix": "2: 0>1=5", "shards": 3},
		"option nixl_reregister is one of workload transfer":   {"matrix": "2: 0>1=5", "fabric": "nixl", "nixl_reregister": true},
		"no name of a backend":                                 {"matrix": "2: 0>1=5", "fabric": "nixl", "nixl_backend": "a b"},
		`option matrix: a matrix begins with its number of ra`: {"matrix": "x: 5"},
	} {
		if _, err := DecodeTraffic(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", v, err, want)
		}
	}
}

func TestMatricesAreShownByWhatTheyAmountTo(t *testing.T) {
	o, _ := Traffic.Option("matrix")
	for text, want := range map[string]string{
		"4: 0>1=1048576,2=1048576 3>0=2097152": "4 ranks, 3 cells, 4MiB", "2: 0>1=5": "2 ranks, 1 cell, 5B", "nonsense": "nonsense",
	} {
		if got := o.Show(text); got != want {
			t.Errorf("%s is shown as %q, want %q", text, got, want)
		}
	}
	if size, _ := Transfer.Option("block_size"); size.Show(quantity.Size(4096)) != "4KiB" {
		t.Error("a size is not shown as it is")
	}
}

// What of traffic's options and metrics is named as transfer's has its unit and
// direction, so that scenarios and reports can treat them alike.
func TestTrafficNamesThingsAsTransferDoes(t *testing.T) {
	for _, m := range Traffic.Metrics {
		if other, ok := Transfer.Metric(m.Name); ok && (other.Unit != m.Unit || other.Better != m.Better) {
			t.Errorf("%s is %s, %s is better, and of transfer %s, %s", m.Name, m.Unit, m.Better, other.Unit, other.Better)
		}
	}
	for _, o := range Traffic.Options {
		if other, ok := Transfer.Option(o.Name); ok && (other.Type != o.Type || !slices.Equal(other.Values, o.Values)) {
			t.Errorf("option %s differs", o.Name)
		}
	}
}

func FuzzParseGenerated(f *testing.F) {
	for _, text := range []string{"uniform 4MiB", "zipf 1GB exponent=1.2 seed=5", "sparse 4MiB peers=2", "incast 1 target=", "a b=c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGenerated(text)
		if err != nil {
			return
		}
		again, err := ParseGenerated(g.String())
		if err != nil || again.String() != g.String() {
			t.Fatalf("%q reads as %q, then as %q, %v", text, g, again, err)
		}
		if m, err := g.Matrix(8); err == nil {
			if other, err := again.Matrix(8); err != nil || m.Compact() != other.Compact() {
				t.Fatalf("%q and %q make two matrices: %v", text, g, err)
			}
		}
	})
}

func FuzzParseMatrix(f *testing.F) {
	for _, text := range []string{"2: 0>1=5", "0 4K\n1 0", "0 1\n# c\n1 0", "1: 0>0=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMatrix(text)
		if err != nil {
			return
		}
		if n, ok := Ranks(m.Compact()); !ok || int(n) != m.Ranks() {
			t.Fatalf("%q has %d ranks, and its text says %d", text, m.Ranks(), n)
		}
		if again, err := ParseMatrix(m.Compact()); err != nil || again.Compact() != m.Compact() {
			t.Fatalf("%q reads as %q, then %v", text, m.Compact(), err)
		}
	})
}
