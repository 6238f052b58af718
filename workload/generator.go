package workload

import (
	"fmt"
	"strconv"
	"strings"

	"weir/matrix"
	"weir/quantity"
)

// generator is one way to make a matrix of any number of ranks.
type generator struct {
	name, doc  string
	parameters []parameter
	matrix     func(ranks int, g *Generated) (*matrix.Matrix, error)
	// of one whose cells grow faster than its ranks: what matrix would refuse
	check func(ranks int, g *Generated) error
}

func anyRanks(int, *Generated) error { return nil }

// parameter is a number that a generator takes besides its size.
type parameter struct {
	name      string
	otherwise float64 // where it is not given
	required  bool
	real      bool // else it is whole
	most      float64
}

var seed = parameter{name: "seed", otherwise: 1, most: 1 << 53}

// generators are all of them. The bytes are those of a cell unless the words say
// otherwise.
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
	{"block_diagonal", "groups of so many ranks, in which each sends to every other",
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
	{"sparse", "each sends to so many others, at random", []parameter{
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
	{"zipf", "each sends so many bytes in all, of which the k-th most popular receiver gets a share in proportion to k^-exponent",
		[]parameter{{name: "exponent", otherwise: 1, real: true, most: 100}, seed},
		func(ranks int, g *Generated) (*matrix.Matrix, error) {
			return matrix.Zipf(ranks, int64(g.Bytes), g.values["exponent"], uint64(g.whole("seed")))
		}, anyRanks},
}

// GeneratorDocs lists the generators for a person.
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

// Generated is a matrix by the words that make it.
type Generated struct {
	Bytes     quantity.Size
	generator *generator
	values    map[string]float64 // of all parameters
}

func (g Generated) whole(name string) int { return int(g.values[name]) }

// String is the canonical form, with every parameter.
func (g Generated) String() string {
	words := []string{g.generator.name, g.Bytes.String()}
	for _, p := range g.generator.parameters {
		words = append(words, p.name+"="+strconv.FormatFloat(g.values[p.name], 'f', -1, 64))
	}
	return strings.Join(words, " ")
}

// Matrix makes it for so many ranks.
func (g Generated) Matrix(ranks int) (*matrix.Matrix, error) {
	m, err := g.generator.matrix(ranks, &g)
	if err != nil {
		return nil, err
	}
	return m, CheckMatrix(m)
}

// Check says what is wrong with so many ranks as Matrix does, without the work of a
// million cells: a plan asks this at each point of a sweep. It gives a small matrix of
// these ranks that stands for the large one.
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

// ParseGenerated reads the words of a generator: its name, a size, and what it
// takes besides, as "sparse 4MiB peers=2 seed=1".
func ParseGenerated(text string) (Generated, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Generated{}, fmt.Errorf("it names no generator: there are %s", generatorNames())
	}
	g := Generated{values: map[string]float64{}}
	for i := range generators {
		if generators[i].name == words[0] {
			g.generator = &generators[i]
		}
	}
	switch {
	case g.generator == nil:
		return g, fmt.Errorf("%q is no generator: there are %s", words[0], generatorNames())
	case len(words) == 1:
		return g, fmt.Errorf("%s has no size: write it like %q", words[0], words[0]+" 4MiB")
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
		return fmt.Errorf("%q is out of place: after the size come parameters, as name=value", word)
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
		return fmt.Errorf("%s takes nothing besides its size, and no %s", g.generator.name, name)
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
		return 0, fmt.Errorf("%s=%s: it is %s from 0 to %s", p.name, text, kind,
			strconv.FormatFloat(p.most, 'f', -1, 64))
	}
	return v, nil
}

// Generators are the names of all generators.
func Generators() []string {
	var names []string
	for _, g := range generators {
		names = append(names, g.name)
	}
	return names
}

func generatorNames() string { return strings.Join(Generators(), ", ") }
