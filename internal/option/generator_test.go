package option_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload/traffic"

	"pgregory.net/rapid"
)

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
		{"", "", "has no generator: there are uniform, ring, incast"},
		{"unifrom 4MiB", "", `there is no generator "unifrom": there are uniform`},
		{"uniform", "", `uniform has no size: write "uniform 4MiB"`},
		{"uniform 4M", "", "MiB or MB"},
		{"uniform 0", "", "the size 0B is not from 1B to 1TiB"},
		{"uniform 2TiB", "", "the size 2TiB is not from 1B"},
		{"uniform target=0", "", "after the name of a generator comes a size"},
		{"uniform 4MiB seed=1", "", "uniform has no parameters besides its size, so no seed"},
		{"incast 4MiB 3", "", `unexpected "3"`},
		{"incast 4MiB source=3", "", `incast has no parameter "source": there is target`},
		{"incast 4MiB target=1 target=2", "", "target is given twice"},
		{"incast 4MiB target=1.5", "", "target=1.5 must be a whole number from 0 to 1023"},
		{"incast 4MiB target=-1", "", "must be a whole number"},
		{"zipf 4MiB exponent=101", "", "exponent=101 must be a number from 0 to 100"},
		{"zipf 4MiB exponent=nan", "", "must be a number"},
		{"zipf 4MiB exponent=0x1p3", "", "must be a number"},
		{"sparse 4MiB", "", "sparse needs peers=…"},
	} {
		o, _ := traffic.Kind.Option("generate")
		got, err := o.Parse(c.text)
		switch {
		case c.wrong == "" && (err != nil || got != c.want):
			t.Errorf("%q = %#v, %v, want %q", c.text, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%q: error %v, want %q", c.text, err, c.wrong)
		}
	}
}

// Every generator of the registry calls the function of package matrix with its name.
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
	if len(want) != len(option.Generators()) {
		t.Errorf("%d of %d generators", len(want), len(option.Generators()))
	}
	for text, same := range want {
		g, err := option.ParseGenerated(text)
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
	}
	for _, name := range option.Generators() {
		if !strings.Contains(option.GeneratorDocs(), name) {
			t.Errorf("%s is not in the documentation", name)
		}
	}
}

// A plan checks generated matrices without generating them, with the same result.
func TestWhatIsGeneratedIsCheckedAsItWouldBeMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{
			"uniform 5B", "ring 1TiB", "uniform 1TiB", "incast 5B target=%d", "outcast 5B source=%d",
			"permutation 5B seed=%d", "block_diagonal 5B block=%d", "sparse 5B peers=%d", "zipf 1B",
			"zipf 5KiB exponent=%d",
		}).Draw(t, "generator")
		if strings.Contains(text, "%d") {
			text = fmt.Sprintf(text, rapid.IntRange(0, 9).Draw(t, "parameter"))
		}
		v := option.Values{
			"generate": text, "ranks": rapid.Int64Range(2, 9).Draw(t, "ranks"),
			"fabric": rapid.SampledFrom([]string{"shm", "sim"}).Draw(t, "fabric"),
		}
		_, err := traffic.Decode(v)
		if checked := traffic.Kind.Check(v); fmt.Sprint(checked) != fmt.Sprint(err) {
			t.Fatalf("%v is made with %v and checked with %v", v, err, checked)
		}
	})
}

func FuzzParseGenerated(f *testing.F) {
	for _, text := range []string{
		"uniform 4MiB", "zipf 1GB exponent=1.2 seed=5", "sparse 4MiB peers=2", "incast 1 target=", "a b=c",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := option.ParseGenerated(text)
		if err != nil {
			return
		}
		again, err := option.ParseGenerated(g.String())
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
