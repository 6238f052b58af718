// The table on which the steps work.

package planner

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
)

// Table is a plan before its cases are written: rows share their values, so that a sweep of a
// million cases is planned in seconds.
type Table struct {
	scenario  *dsl.Scenario
	runs      []*runTable // in file order until order sorts them
	groups    []*group
	multiCase []multiCase
	head      *Plan // everything but cases and groups
	diags     hcl.Diagnostics
	known     map[problem]bool // the keys of diags
	cases     int              // so far
	expired   bool             // the deadline has passed, which is reported
	gpus      int              // GPUs that a run needs on a node, if more than the cluster has
}

// problem is the key by which diagnostics are equal.
type problem struct {
	at      hcl.Range
	placed  bool
	summary string
}

// runTable is a run with its cases.
type runTable struct {
	run      *dsl.Run
	rows     []*row // in the order of the sweep
	excluded []*row

	columns    []*column
	constant   option.Values // options that are equal in all rows
	needs      []need        // by need of the run
	valueAxes  []int         // axes shared with the runs of its values
	asserted   []func(*row) *caseAssertions
	assertedBy []int    // axes on which assertions depend
	when       string   // condition that can be evaluated only on a host
	launches   []*group // all rows by process, in order
	keyAxes    []int    // axes sorted by name
	context    []byte   // of its cases, as a part of ids; set by seal
}

// row is a case.
type row struct {
	*runTable
	values     []int32 // by axis: the index of its value
	isExcluded bool
	reason     string // why it does not run; "": it runs
	judged     *assertionList
	group      *group // the group that runs it
	id, line   [32]byte
}

// column is a setting with its values.
type column struct {
	*dsl.Setting
	cells []*cell // the distinct ones
	of    func(*row) *cell
}

// cell is a value of a setting.
type cell struct {
	value any
	json  []byte // "name":value
}

func (c *column) at(r *row) *cell {
	if len(c.cells) == 1 {
		return c.cells[0]
	}
	return c.of(r)
}

// group is a launch group under construction.
type group struct {
	*runTable
	id     string
	ranks  int
	cases  []*row // that run
	all    []*row // including skipped ones
	index  int    // index among the groups of the plan; -1 if no case of it runs
	after  []int  // indices of groups to wait for
	during []int
}

// appendValues appends a row's values on some axes, as a map key.
func (r *row) appendValues(b []byte, axes []int) []byte {
	for _, a := range axes {
		b = binary.LittleEndian.AppendUint32(b, uint32(r.values[a]))
	}
	return b
}

// distinct yields the first row for each combination of values on some axes.
func (t *runTable) distinct(axes ...int) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		seen := map[string]bool{}
		for _, r := range t.rows {
			var b [64]byte
			key := r.appendValues(b[:0], axes)
			if seen[string(key)] {
				continue
			}
			if !yield(r) || len(axes) == 0 {
				return
			}
			seen[string(key)] = true
		}
	}
}

// distinctBy yields one row for each combination of values of options and axes.
func (t *runTable) distinctBy(names ...string) iter.Seq[*row] {
	return t.distinct(t.axesOf(names...)...)
}

// byAxes caches f for all rows with the same values on some axes.
func byAxes[T any](t *runTable, axes []int, f func(*row) T) func(*row) T {
	known := map[string]T{}
	for r := range t.distinct(axes...) {
		known[string(r.appendValues(nil, axes))] = f(r)
	}
	return func(r *row) T {
		var b [64]byte
		return known[string(r.appendValues(b[:0], axes))]
	}
}

// axesOf returns the axes on which options and axes depend.
func (t *runTable) axesOf(names ...string) []int {
	var axes []int
	for _, name := range names {
		for i, a := range t.run.Axes {
			if a.Name == name {
				axes = append(axes, i)
			}
		}
		for _, c := range t.run.Settings() {
			if !c.Env && c.Name == name {
				axes = append(axes, t.dependsOn(c)...)
			}
		}
	}
	return sorted(axes)
}

// sorted sorts indices and removes duplicates.
func sorted(indices []int) []int {
	slices.Sort(indices)
	return slices.Compact(indices)
}

func (t *runTable) allAxes() []int {
	axes := make([]int, len(t.run.Axes))
	for i := range axes {
		axes[i] = i
	}
	return axes
}

func (t *Table) table(run string) *runTable {
	if i := slices.IndexFunc(t.runs, func(r *runTable) bool { return r.run.Name == run }); i >= 0 {
		return t.runs[i]
	}
	return nil
}

// value returns a case's value on an axis.
func (r *row) value(axis int) dsl.AxisValue { return r.run.Axes[axis].Values[r.values[axis]] }

// at returns a case's values on some axes.
func (r *row) at(axes []int) []dsl.AxisValue {
	out := make([]dsl.AxisValue, len(axes))
	for k, a := range axes {
		out[k] = r.value(a)
	}
	return out
}

// texts returns a case's values on some axes, by name.
func (r *row) texts(axes []int) map[string]string {
	texts := map[string]string{}
	for _, a := range axes {
		texts[r.run.Axes[a].Name] = r.value(a).Text
	}
	return texts
}

// text identifies a case's values on some axes, independent of the run.
func (r *row) text(axes []int) string { return Key("", r.texts(axes)) }

// key returns the key of a case.
func (r *row) key() string {
	b, separator := append(make([]byte, 0, 128), r.run.Name...), byte('[')
	for _, a := range r.keyAxes {
		b = append(append(append(b, separator), r.run.Axes[a].Name...), '=')
		b, separator = append(b, keyText(r.value(a).Text)...), ','
	}
	if len(r.keyAxes) > 0 {
		b = append(b, ']')
	}
	return string(b)
}

// orderKey sets the axes of keys, sorted by name, without those that follow from an item's
// position.
func (t *runTable) orderKey() {
	t.keyAxes = slices.DeleteFunc(t.allAxes(), func(a int) bool {
		axis := t.run.Axes[a]
		return axis.Item && axis.Name != t.run.Workload.Sequence
	})
	slices.SortFunc(t.keyAxes, func(a, b int) int {
		return strings.Compare(t.run.Axes[a].Name+"=", t.run.Axes[b].Name+"=")
	})
}
