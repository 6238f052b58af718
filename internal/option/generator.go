package option

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
)

// generator makes a matrix for any number of ranks.
type generator struct {
	name, doc  string
	parameters []parameter
	matrix     func(ranks int, g *Generated) (*matrix.Matrix, error)
	// checks what matrix would refuse, for a generator with cells that grow faster than the number
	// of ranks
	check func(ranks int, g *Generated) error
}

func anyRanks(int, *Generated) error { return nil }

// parameter is a number that a generator takes besides its size.
type parameter struct {
	name      string
	otherwise float64 // the default
	required  bool
	real      bool // a real number, not a whole one
	most      float64
}

var seed = parameter{name: "seed", otherwise: 1, most: 1 << 53}

// generators are all generators. bytes are those of a cell unless the text says otherwise.
var generators = []generator{
	{"uniform", "every rank sends to every other", nil,
		func(ranks int, g *Generated) (*matrix.Matrix, error) { return matrix.Uniform(ranks, int64(g.Bytes)) },
		anyRanks},
	{"ring", "each sends to the next", nil,
		func(ranks int, g *Generated) (*matrix.Matrix, error) { return matrix.Ring(ranks, int64(g.Bytes)) }, nil},
	{"incast", "all send to one", []parameter{{name: "target", most: MostRanks - 1}},
		func(ranks int, g *Generated) (*matrix.Matrix, error) {
			return matrix.Incast(ranks, g.whole("target"), int64(g.Bytes))
		}, nil},
	{"outcast", "one sends to all", []parameter{{name: "source", most: MostRanks - 1}},
		func(ranks int, g *Generated) (*matrix.Matrix, error) {
			return matrix.Outcast(ranks, g.whole("source"), int64(g.Bytes))
		}, nil},
	{"permutation", "each sends to one other and gets from one other, at random", []parameter{seed},
		func(ranks int, g *Generated) (*matrix.Matrix, error) {
			return matrix.Permutation(ranks, int64(g.Bytes), uint64(g.whole("seed")))
		}, nil},
	{"block_diagonal", "groups of this many ranks, in which each sends to every other",
		[]parameter{{name: "block", required: true, most: MostRanks}},
		func(ranks int, g *Generated) (*matrix.Matrix, error) {
			return matrix.BlockDiagonal(ranks, g.whole("block"), int64(g.Bytes))
		},
		func(ranks int, g *Generated) error {
			if block := g.whole("block"); block < 2 || ranks%block != 0 {
				return fmt.Errorf("%d ranks cannot be divided into groups of %d", ranks, block)
			}
			return nil
		}},
	{"sparse", "each sends to this many others, at random", []parameter{
		{name: "peers", required: true, most: MostRanks - 1}, seed,
	},
		func(ranks int, g *Generated) (*matrix.Matrix, error) {
			return matrix.RandomSparse(ranks, g.whole("peers"), int64(g.Bytes), uint64(g.whole("seed")))
		},
		func(ranks int, g *Generated) error {
			if peers := g.whole("peers"); peers < 1 || peers >= ranks {
				return fmt.Errorf("each of %d ranks cannot send to %d others", ranks, peers)
			}
			return nil
		}},
	{"zipf", "each sends this many bytes; the k-th most popular receiver gets a share proportional to k^-exponent",
		[]parameter{{name: "exponent", otherwise: 1, real: true, most: 100}, seed},
		func(ranks int, g *Generated) (*matrix.Matrix, error) {
			return matrix.Zipf(ranks, int64(g.Bytes), g.values["exponent"], uint64(g.whole("seed")))
		}, anyRanks},
}

// GeneratorDocs lists the generators for people.
func GeneratorDocs() string {
	var all []string
	for _, g := range generators {
		sample := Generated{Bytes: 4 << 20, generator: &g, values: map[string]float64{}}
		for _, p := range g.parameters {
			sample.values[p.name] = p.otherwise
			if p.required {
				sample.values[p.name] = 2
			}
		}
		all = append(all, fmt.Sprintf("%s (%s)", sample, g.doc))
	}
	return strings.Join(all, "; ")
}

// Generated is a matrix given by a generator and its parameters.
type Generated struct {
	Bytes     quantity.Size
	generator *generator
	values    map[string]float64 // of all parameters
}

func (g Generated) whole(name string) int { return int(g.values[name]) }

// String returns the canonical form, with every parameter.
func (g Generated) String() string {
	words := []string{g.generator.name, g.Bytes.String()}
	for _, p := range g.generator.parameters {
		words = append(words, p.name+"="+strconv.FormatFloat(g.values[p.name], 'f', -1, 64))
	}
	return strings.Join(words, " ")
}

// Matrix makes the matrix for a number of ranks.
func (g Generated) Matrix(ranks int) (*matrix.Matrix, error) {
	m, err := g.generator.matrix(ranks, &g)
	if err != nil {
		return nil, err
	}
	return m, CheckMatrix(m)
}

// Check returns the errors of Matrix without the work of a million cells, since plans call it at
// each point of a sweep. It returns a small matrix with the number of ranks as a substitute.
func (g Generated) Check(ranks int) (*matrix.Matrix, error) {
	if g.generator.check == nil {
		return g.Matrix(ranks)
	}
	if err := g.generator.check(ranks, &g); err != nil {
		return nil, err
	}
	m, err := matrix.Ring(ranks, int64(g.Bytes))
	if err != nil {
		return nil, err
	}
	return m, CheckMatrix(m)
}

// ParseGenerated reads the name of a generator, a size, and its parameters, as "sparse 4MiB peers=2
// seed=1".
func ParseGenerated(text string) (Generated, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Generated{}, fmt.Errorf("it has no generator: there are %s", generatorNames())
	}
	g := Generated{values: map[string]float64{}}
	for i := range generators {
		if generators[i].name == words[0] {
			g.generator = &generators[i]
		}
	}
	switch {
	case g.generator == nil:
		return g, fmt.Errorf("there is no generator %q: there are %s", words[0], generatorNames())
	case len(words) == 1:
		return g, fmt.Errorf("%s has no size: write %q", words[0], words[0]+" 4MiB")
	}
	var err error
	if g.Bytes, err = quantity.ParseSize(words[1]); err != nil {
		return g, fmt.Errorf("after the name of a generator comes a size: %w", err)
	}
	if g.Bytes < 1 || g.Bytes > mostCell {
		return g, fmt.Errorf("the size %v is not from 1B to %v", g.Bytes, mostCell)
	}
	for _, word := range words[2:] {
		if err := g.set(word); err != nil {
			return g, err
		}
	}
	for _, p := range g.generator.parameters {
		if _, given := g.values[p.name]; given {
			continue
		}
		if p.required {
			return g, fmt.Errorf("%s needs %s=…", words[0], p.name)
		}
		g.values[p.name] = p.otherwise
	}
	return g, nil
}

// set reads one parameter.
func (g *Generated) set(word string) error {
	name, value, isPair := strings.Cut(word, "=")
	if !isPair {
		return fmt.Errorf("unexpected %q: after the size come parameters, as name=value", word)
	}
	var names []string
	for _, p := range g.generator.parameters {
		names = append(names, p.name)
		if p.name != name {
			continue
		}
		if _, given := g.values[name]; given {
			return fmt.Errorf("%s is given twice", name)
		}
		v, err := p.parse(value)
		if err != nil {
			return err
		}
		g.values[name] = v
		return nil
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no parameters besides its size, so no %s", g.generator.name, name)
	}
	return fmt.Errorf("%s has no parameter %q: there is %s", g.generator.name, name, strings.Join(names, " and "))
}

func (p parameter) parse(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	kind := "a whole number"
	if p.real {
		kind = "a number"
	}
	if err != nil || !(v >= 0 && v <= p.most) || !p.real && v != float64(int64(v)) ||
		strings.Trim(text, "0123456789.") != "" {
		return 0, fmt.Errorf("%s=%s must be %s from 0 to %s", p.name, text, kind,
			strconv.FormatFloat(p.most, 'f', -1, 64))
	}
	return v, nil
}

// Generators returns the names of all generators.
func Generators() []string {
	var names []string
	for _, g := range generators {
		names = append(names, g.name)
	}
	return names
}

func generatorNames() string { return strings.Join(Generators(), ", ") }
