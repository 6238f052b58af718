// Step expand: the points of sweeps, and the keys of cases.

package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/dsl"
)

// expand creates the points of every run's sweep, the first axis outermost.
func expand(t *Table) {
	var bounded []*runTable // runs within the limits, expanded once all are counted
	for _, r := range t.scenario.Runs {
		table := &runTable{run: r}
		table.orderKey()
		t.runs = append(t.runs, table)
		if n := r.Sweep.Root.Rows(); n > float64(r.Sweep.MaxCases) {
			t.fail(r.Range, "Too many cases", fmt.Sprintf("The sweep of run %q gives %.6g cases; at most %d are allowed.",
				r.Name, n, r.Sweep.MaxCases), "Shorten an axis, split the run, or raise max_cases in the sweep.")
			continue
		}
		if !t.addCases(r, r.Sweep.Root.Rows()) {
			return
		}
		bounded = append(bounded, table)
	}
	for _, table := range bounded {
		n := int(table.run.Sweep.Root.Rows())
		rows, values := make([]row, n), make([]int32, n*len(table.run.Axes))
		table.rows = make([]*row, n)
		for i := range rows {
			at := len(table.run.Axes) * i
			rows[i] = row{runTable: table, values: values[at : at+len(table.run.Axes)]}
			point(table.run.Sweep.Root, i, rows[i].values)
			table.rows[i] = &rows[i]
		}
	}
}

// point sets the values of a node of a sweep in its row i.
func point(n *dsl.SweepNode, i int, values []int32) {
	if n == nil {
		return
	}
	switch n.Op {
	case dsl.AxisNode:
		values[n.Axis] = int32(n.Values[i])
	case dsl.ZipNode:
		for _, m := range n.Members {
			point(m, i, values)
		}
	case dsl.ConcatNode:
		for _, m := range n.Members {
			rows := int(m.Rows())
			if i < rows {
				point(m, i, values)
				return
			}
			i -= rows
		}
	default: // the last member is innermost
		for _, m := range slices.Backward(n.Members) {
			rows := int(m.Rows())
			point(m, i%rows, values)
			i /= rows
		}
	}
}

// Key returns the readable name of a case: run[axis=value,…], with axes sorted by name, so that it
// does not depend on their order in the file.
func Key(run string, axes map[string]string) string {
	if len(axes) == 0 {
		return run
	}
	parts := make([]string, 0, len(axes))
	for name, text := range axes {
		parts = append(parts, name+"="+keyText(text))
	}
	slices.Sort(parts)
	return run + "[" + strings.Join(parts, ",") + "]"
}

// keyText quotes values that would make a key ambiguous.
func keyText(text string) string {
	if text == "" || strings.ContainsAny(text, "[],=\"* \t\n") {
		return strconv.Quote(text)
	}
	return text
}
