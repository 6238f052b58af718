// Rows of a sweep's nodes: their number, and duplicates.

package dsl

import (
	"fmt"
	"slices"
	"strings"
)

// axes returns the indices of the axes of a node, ascending.
func (n *SweepNode) axes() []int {
	if n.Op == AxisNode {
		return []int{n.Axis}
	}
	var out []int
	for _, m := range n.Members {
		out = append(out, m.axes()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Rows returns the number of rows of a node, as a float64 because it has no limit.
func (n *SweepNode) Rows() float64 {
	if n == nil {
		return 1
	}
	switch n.Op {
	case AxisNode:
		return float64(len(n.Values))
	case ZipNode:
		return n.Members[0].Rows()
	}
	product, sum := 1., 0.
	for _, m := range n.Members {
		rows := m.Rows()
		product *= rows
		sum += rows
	}
	if n.Op == ConcatNode {
		return sum
	}
	return product
}

// Repeats reports whether the node could have the same row twice.
func (n *SweepNode) Repeats() bool {
	return n != nil && (n.Op == ConcatNode || slices.ContainsFunc(n.Members, (*SweepNode).Repeats))
}

func (s *sweeper) checkZipLengths(n *SweepNode) {
	if n.Op != ZipNode {
		return
	}
	first := n.Members[0]
	for _, m := range n.Members[1:] {
		if m.Rows() != first.Rows() && m.Rows() > 0 && first.Rows() > 0 {
			s.error(m.Range, "Unequal lengths",
				fmt.Sprintf("zip takes its members row by row: %s has %.0f and %s has %.0f.", s.names(first),
					first.Rows(), s.names(m), m.Rows()),
				"Give them the same number of values, or move them out of zip to multiply them.")
			return
		}
	}
}

// distinctRows refuses a repeated value of an axis, which would give two cases one key. In a zip,
// the values of the other members distinguish the rows.
func (s *sweeper) distinctRows(n *SweepNode, zipped bool) {
	switch {
	case n == nil:
	case n.Op == AxisNode && !zipped:
		if at, twice := firstRepeated([]*SweepNode{n}); twice {
			a := s.run.Axes[n.Axis]
			s.error(n.Ranges[at], "Duplicate value",
				fmt.Sprintf("Axis %q already has the value %s.", a.Name, a.Values[n.Values[at]].Text),
				"Remove one of the two. Beside other axes in a zip an axis may repeat values.")
		}
	case n.Op == ZipNode:
		s.distinctTuples(n)
		fallthrough
	default:
		for _, m := range n.Members {
			s.distinctRows(m, n.Op == ZipNode)
		}
	}
}

// distinctTuples refuses a repeated row of a zip of axes. A zip with a member that is a combination
// has distinct rows; the planner checks those with a concat.
func (s *sweeper) distinctTuples(n *SweepNode) {
	if slices.ContainsFunc(n.Members, func(m *SweepNode) bool {
		return m.Op != AxisNode || len(m.Values) != len(n.Members[0].Values)
	}) {
		return
	}
	at, twice := firstRepeated(n.Members)
	if !twice {
		return
	}
	var row []string
	for _, m := range n.Members {
		a := s.run.Axes[m.Axis]
		row = append(row, a.Name+"="+a.Values[m.Values[at]].Text)
	}
	s.error(n.Members[0].Ranges[at], "Duplicate row",
		fmt.Sprintf("The zip already has the row %s.", strings.Join(row, ", ")),
		"Remove one of the two, or change a value of it.")
}

// firstRepeated returns the first row of equally long axes that equals an earlier one.
func firstRepeated(axes []*SweepNode) (at int, twice bool) {
	seen := map[string]bool{}
	for i := range axes[0].Values {
		var key strings.Builder
		for _, a := range axes {
			fmt.Fprintf(&key, "%d ", a.Values[i])
		}
		if seen[key.String()] {
			return i, true
		}
		seen[key.String()] = true
	}
	return 0, false
}
