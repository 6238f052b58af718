package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/dsl"
)

// Table is a plan before its cases are written out. A case is a row of value
// indices; what depends on some axes only is worked out once for each
// combination of their values and not for each case, so that a sweep of a
// million cases is planned in about a second. Case writes one case out, Plan all.
type Table struct {
	scenario *dsl.Scenario
	sheets   []*sheet // in file order until order sorts them
	byName   map[string]*sheet
	groups   []*tableGroup
	spanning []spanning
	head     *Plan // everything but cases and groups
	diags    hcl.Diagnostics
	known    map[problem]bool // what diags has
	cases    int              // so far
	modest   int              // of them, in runs with the default max_cases
	isLate   bool             // and that has been reported
	edges    int              // between cases, that are left
	gpus     int              // that a run needs of a node, where that is more than the cluster names
}

// problem is what makes a diagnostic the same as another.
type problem struct {
	at      hcl.Range
	placed  bool
	summary string
}

// sheet is a run with its cases.
type sheet struct {
	run      *dsl.Run
	columns  [][]int32 // by axis: the value that each live case has
	live     int       // cases that are not excluded
	excluded *excluded

	settings   []column
	rows       *optionRows
	needs      []edges // by need of the run
	valueAxes  []int   // that the run shares with runs whose values it uses
	asserted   []facet[*attached]
	assertedBy []int // axes on which assertions depends
	assertions facet[judgements]
	prospect   facet[*prospect]
	when       string        // condition that only a host can decide
	skipped    facet[string] // reason of each case; "": planned
	downstream []string      // reason of each case whose needs do not run; nil: none
	clusters   []*tableGroup // all cases by their processes, in order
	keyOrder   []int         // axes in the order of their names
	keyParts   [][]string    // by axis and value: axis=value
	keys       []string      // of cases that others need, as far as they were asked for
	around     []byte        // what surrounds its cases and is part of what they are, once it is known
	ids        [][32]byte
	lines      [][32]byte

	cache map[string]*classes
}

// excluded are points that the sweep leaves out.
type excluded struct {
	columns [][]int32
	reasons []string
}

// column is a setting with its values.
type column struct {
	*dsl.Setting
	values facet[any]
	json   [][]byte // by class: "name":value
}

// tableGroup is a launch group in the making.
type tableGroup struct {
	sheet  *sheet
	id     string
	ranks  int
	cases  []int32 // that run
	all    []int32 // with those that are skipped
	index  int     // among the groups of the plan; -1 if no case of it runs
	needs  []int
	during []int
}

// spanning is an assertion over several cases of a run.
type spanning struct {
	run       string
	assertion assertion.Assertion
}

// classes divides the live cases of a sheet by their values on some axes.
type classes struct {
	of    []int32 // class of each case; nil: all are in one
	first []int32 // by class: a case of it; -1 if it has none
}

func (c *classes) class(i int) int {
	if c.of == nil {
		return 0
	}
	return int(c.of[i])
}

// facet is something that cases have by their class.
type facet[T any] struct {
	*classes
	values []T
}

func (f facet[T]) at(i int) T { return f.values[f.class(i)] }

// work computes something once for each class.
func work[T any](c *classes, f func(i int) T) facet[T] {
	out := facet[T]{c, make([]T, len(c.first))}
	for k, i := range c.first {
		if i >= 0 {
			out.values[k] = f(int(i))
		}
	}
	return out
}

// by gives the classes of some axes, which are sorted and distinct.
func (s *sheet) by(axes []int) *classes {
	key := fmt.Sprint(axes)
	c := s.cache[key]
	if c == nil {
		switch len(axes) {
		case 0:
			c = &classes{first: []int32{0}}
			if s.live == 0 {
				c.first[0] = -1
			}
		case 1:
			c = &classes{of: s.columns[axes[0]][:s.live]}
			c.firsts(len(s.run.Axes[axes[0]].Values))
		default:
			last := axes[len(axes)-1]
			c = s.by(axes[:len(axes)-1]).refine(s.columns[last][:s.live], len(s.run.Axes[last].Values))
		}
		if s.cache == nil {
			s.cache = map[string]*classes{}
		}
		s.cache[key] = c
	}
	return c
}

func (c *classes) firsts(n int) {
	c.first = slices.Repeat([]int32{-1}, n)
	for i, k := range c.of {
		if c.first[k] < 0 {
			c.first[k] = int32(i)
		}
	}
}

// refine divides classes further by a column of n values.
func (c *classes) refine(column []int32, n int) *classes {
	out := &classes{of: make([]int32, len(column))}
	number := func(key int, dense []int32, sparse map[int]int32, i int) int32 {
		if dense != nil {
			if dense[key] < 0 {
				dense[key] = int32(len(out.first))
				out.first = append(out.first, int32(i))
			}
			return dense[key]
		}
		k, ok := sparse[key]
		if !ok {
			k = int32(len(out.first))
			sparse[key] = k
			out.first = append(out.first, int32(i))
		}
		return k
	}
	var dense []int32
	sparse := map[int]int32{}
	if size := len(c.first) * n; size <= 4*len(column)+1024 {
		dense = slices.Repeat([]int32{-1}, size)
	}
	for i, v := range column {
		out.of[i] = number(c.class(i)*n+int(v), dense, sparse, i)
	}
	return out
}

// axesOf are the axes on which names of options and axes depend.
func (s *sheet) axesOf(names []string) []int {
	var axes []int
	for _, name := range names {
		for i, a := range s.run.Axes {
			if a.Name == name {
				axes = append(axes, i)
			}
		}
		for _, c := range s.run.Settings() {
			if !c.Env && c.Name == name {
				axes = append(axes, s.reach(c)...)
			}
		}
	}
	slices.Sort(axes)
	return slices.Compact(axes)
}

func (s *sheet) allAxes() []int {
	axes := make([]int, len(s.run.Axes))
	for i := range axes {
		axes[i] = i
	}
	return axes
}

// value is that of a case on an axis.
func (s *sheet) value(columns [][]int32, axis, i int) dsl.AxisValue {
	return s.run.Axes[axis].Values[columns[axis][i]]
}

// at are a case's values on some axes.
func (s *sheet) at(columns [][]int32, axes []int, i int) []dsl.AxisValue {
	out := make([]dsl.AxisValue, len(axes))
	for k, a := range axes {
		out[k] = s.value(columns, a, i)
	}
	return out
}

// key is the key of a case.
func (s *sheet) key(columns [][]int32, i int) string {
	return string(s.appendKey(make([]byte, 0, 128), columns, i))
}

func (s *sheet) appendKey(b []byte, columns [][]int32, i int) []byte {
	b = append(b, s.run.Name...)
	for n, axis := range s.keyOrder {
		if n == 0 {
			b = append(b, '[')
		} else {
			b = append(b, ',')
		}
		b = append(b, s.keyParts[axis][columns[axis][i]]...)
	}
	if len(s.keyOrder) > 0 {
		b = append(b, ']')
	}
	return b
}

// prepareKeys writes the parts of keys once for each value.
func (s *sheet) prepareKeys() {
	s.keyOrder = slices.DeleteFunc(s.allAxes(), func(a int) bool { // the place of an item is enough
		axis := s.run.Axes[a]
		return axis.Item && axis.Name != s.run.Workload.Sequence
	})
	slices.SortFunc(s.keyOrder, func(a, b int) int {
		return strings.Compare(s.run.Axes[a].Name+"=", s.run.Axes[b].Name+"=")
	})
	s.keyParts = make([][]string, len(s.run.Axes))
	for i, a := range s.run.Axes {
		for _, v := range a.Values {
			s.keyParts[i] = append(s.keyParts[i], a.Name+"="+keyText(v.Text))
		}
	}
}
