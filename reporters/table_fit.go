package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// grid draws a run with as many columns as fit.
func (t *terminal) grid(g grid) {
	all := g.cases
	g.cases = t.rows(all)
	columns := t.columns(g)
	fmt.Fprintf(&t.out, "%s\n", plain(g.run))
	kept := columns
	if t.Width > 0 && !t.fixed() {
		kept = t.fitted(g, columns)
	} else {
		fmt.Fprintf(&t.out, "%s\n", t.draw(g, columns, nil))
	}
	if more := len(all) - len(g.cases); more > 0 {
		t.line("  ", plural(more, "further row")+" without findings; --wide shows all")
	}
	for _, line := range slices.Concat(constants(g, columns, kept), conditionLines(all)) {
		t.line("  ", line)
	}
	t.out.WriteByte('\n')
}

// fitted draws a run within the width, and returns the columns that it kept. What does not fit is left out, the least
// important first; then axes become lines above the rows that share their values; then asserted metrics have further
// tables.
func (t *terminal) fitted(g grid, columns []column) []column {
	fits := func(columns, keys []column) bool {
		return text.LongestLineLen(t.draw(g, columns, keys)) <= t.Width
	}
	for !fits(columns, nil) {
		fewer := withoutLeast(columns)
		if len(fewer) == len(columns) {
			break
		}
		columns = fewer
	}
	kept := columns
	var keys []column
	for !fits(columns, keys) {
		steady := g.steadiest(columns)
		if steady < 0 {
			break
		}
		keys = append(keys, columns[steady])
		columns = slices.Delete(slices.Clone(columns), steady, steady+1)
	}
	var later []column // in tables of their own
	for !fits(columns, keys) {
		last := lastMetric(columns)
		if last < 0 {
			break
		}
		later = append([]column{columns[last]}, later...)
		columns = slices.Delete(slices.Clone(columns), last, last+1)
	}
	fmt.Fprintf(&t.out, "%s\n", t.draw(g, columns, keys))
	if len(later) > 0 {
		t.out.WriteByte('\n')
		rows := slices.DeleteFunc(slices.Clone(kept), func(c column) bool { return !c.setting })
		t.fitted(g, append(rows, later...))
	}
	return kept
}

// steadiest is the index of the axis or option that changes least from row to row, the first of several; -1: there is
// none.
func (g *grid) steadiest(columns []column) int {
	best, least := -1, 0
	for i, c := range columns {
		if !c.setting {
			continue
		}
		changes := 0
		for k := 1; k < len(g.cases); k++ {
			if c.cell(g.cases[k]) != c.cell(g.cases[k-1]) {
				changes++
			}
		}
		if best < 0 || changes < least {
			best, least = i, changes
		}
	}
	return best
}

// lastMetric is the index of the last metric of several; -1: there is at most one.
func lastMetric(columns []column) int {
	n, last := 0, -1
	for i, c := range columns {
		if c.metric != "" {
			n, last = n+1, i
		}
	}
	if n < 2 {
		return -1
	}
	return last
}

// constants say in a line the values of axes that have no column because all rows have the same.
func constants(g grid, columns, kept []column) []string {
	var words []string
	for _, c := range columns {
		left := !slices.ContainsFunc(kept, func(k column) bool { return k.name == c.name })
		if left && c.setting && c.name != "fabric" && slices.Contains(axes(g.cases), c.name) && g.constant(c.name) {
			words = append(words, plain(c.name)+"="+c.cell(g.cases[0]))
		}
	}
	if words == nil {
		return nil
	}
	return []string{"axes: " + strings.Join(words, " ")}
}

// withoutLeast drops the least important column.
func withoutLeast(columns []column) []column {
	least := -1
	for i, c := range columns {
		if c.drop > 0 && (least < 0 || c.drop > columns[least].drop) {
			least = i
		}
	}
	if least < 0 {
		return columns
	}
	return append(append([]column{}, columns[:least]...), columns[least+1:]...)
}

// draw is the table of a run with some columns; keys are columns that have a line where one of them changes.
func (t *terminal) draw(g grid, columns, keys []column) string {
	var head []string
	var right []bool
	for _, c := range columns {
		head, right = append(head, c.head), append(right, c.right)
	}
	var rows [][]string
	for _, c := range g.cases {
		var row []string
		for _, col := range columns {
			cell := col.cell(c)
			if col.name == verdictColumn {
				cell = t.colored(standing(c), cell)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	drawn := ruled(head, right, rows)
	if len(keys) == 0 {
		return drawn
	}
	titles := make([]string, len(rows))
	for i, c := range g.cases {
		var words []string
		for _, k := range keys {
			words = append(words, plain(k.name)+"="+k.cell(c))
		}
		titles[i] = strings.Join(words, " ")
	}
	return t.titled(drawn, titles, nil)
}

// titled puts a line above each row of a table that has another title than the row before, and lines below rows.
func (t *terminal) titled(drawn string, titles, below []string) string {
	lines := strings.Split(drawn, "\n")
	first := len(lines) - len(titles)
	out := slices.Clone(lines[:first])
	for i, title := range titles {
		if title != "" && (i == 0 || title != titles[i-1]) {
			out = append(out, wrapped(title, t.Width, "  "))
		}
		out = append(out, lines[first+i])
		if below != nil && below[i] != "" {
			out = append(out, wrapped("    "+below[i], t.Width, "      "))
		}
	}
	return strings.Join(out, "\n")
}
