package planner

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"weir/dsl"
)

// expand lays out the points of every run's sweep, the first axis outermost.
func expand(t *Table) {
	var bounded []*sheet // those that are within bounds, laid out once all of them are counted
	for _, r := range t.scenario.Runs {
		s := &sheet{run: r, excluded: &excluded{}, columns: make([][]int32, len(r.Axes))}
		s.prepareKeys()
		t.sheets = append(t.sheets, s)
		t.byName[r.Name] = s
		if n := r.Sweep.Root.Rows(); n > float64(r.Sweep.MaxCases) {
			t.fail(r.Range, "Too many cases", fmt.Sprintf("The sweep of run %q gives %.6g cases; at most %d are allowed.",
				r.Name, n, r.Sweep.MaxCases), "Shorten an axis, split the run, or raise max_cases in the sweep.")
			continue
		}
		if !t.inAll(r, r.Sweep.Root.Rows()) {
			return
		}
		bounded = append(bounded, s)
	}
	for _, s := range bounded {
		rows := expandNode(s.run.Sweep.Root, len(s.run.Axes))
		s.columns, s.live = rows.columns, rows.n
	}
}

// rows are points: for each axis the value indices, nil for axes not yet given.
type rows struct {
	columns [][]int32
	n       int
}

func expandNode(n *dsl.SweepNode, axes int) rows {
	out := rows{columns: make([][]int32, axes), n: 1}
	if n == nil {
		return out
	}
	if n.Op == dsl.AxisNode {
		column := make([]int32, len(n.Values))
		for i, v := range n.Values {
			column[i] = int32(v)
		}
		out.columns[n.Axis], out.n = column, len(column)
		return out
	}
	var members []rows
	for _, m := range n.Members {
		members = append(members, expandNode(m, axes))
	}
	switch n.Op {
	case dsl.ZipNode:
		out.n = members[0].n
		for _, m := range members {
			out.take(m.columns, 1, 1)
		}
	case dsl.ConcatNode:
		out.n = 0
		for _, m := range members {
			for a, c := range m.columns {
				out.columns[a] = append(out.columns[a], c...)
			}
			out.n += m.n
		}
	default:
		for _, m := range members {
			out.n *= m.n
		}
		inner, outer := out.n, 1
		for _, m := range members {
			if m.n == 0 {
				return rows{columns: make([][]int32, axes)}
			}
			inner /= m.n
			out.take(m.columns, inner, outer)
			outer *= m.n
		}
	}
	return out
}

// take copies columns with each value repeated and the whole of it tiled.
func (r *rows) take(columns [][]int32, repeat, tile int) {
	for a, c := range columns {
		if c == nil {
			continue
		}
		if repeat == 1 && tile == 1 {
			r.columns[a] = c
			continue
		}
		out := make([]int32, 0, len(c)*repeat*tile)
		for _, v := range c {
			for range repeat {
				out = append(out, v)
			}
		}
		for once := len(out); len(out) < cap(out); {
			out = append(out, out[:once]...)
		}
		r.columns[a] = out
	}
}

// Key is the readable name of a case: run[axis=value,…], axes by name, so that
// it does not depend on the order in which they are written.
func Key(run string, axes map[string]string) string {
	if len(axes) == 0 {
		return run
	}
	parts := make([]string, 0, len(axes))
	for name, text := range axes {
		parts = append(parts, name+"="+keyText(text))
	}
	sort.Strings(parts)
	return run + "[" + strings.Join(parts, ",") + "]"
}

// keyText quotes values that would make a key ambiguous.
func keyText(text string) string {
	if text == "" || strings.ContainsAny(text, "[],=\"* \t\n") {
		return strconv.Quote(text)
	}
	return text
}
