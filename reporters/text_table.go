package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/reporters/html"
)

// textTable is a table of texts beside those of runs: gains, claims.
type textTable struct {
	title string
	head  []string
	right []bool // by column
	rows  [][]string
	notes []string
	below bool // the last column may be a line below each row
}

// tableColumn is a column of a table with a row for each value.
type tableColumn[T any] struct {
	head  string
	right bool
	drop  int // columns with the highest drop are left out first; 0: never
	cell  func(T) string
}

// tableOf is a table of values.
func tableOf[T any](columns []tableColumn[T], values []T) (t textTable) {
	for _, c := range columns {
		t.head, t.right = append(t.head, c.head), append(t.right, c.right)
	}
	for _, v := range values {
		var row []string
		for _, c := range columns {
			row = append(row, c.cell(v))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// cells writes a table of n rows after a heading, with a format of its texts. It returns false if there is no room for
// its head.
func (m *page) cells(
	heading string, head []string, right []bool, n int, row func(i int) []string, format func(string) string,
) bool {
	line := func(texts []string) string {
		cells := make([]string, len(texts))
		for i, s := range texts {
			cells[i] = format(s)
		}
		return "| " + strings.Join(cells, " | ") + " |\n"
	}
	rule := "|"
	for _, r := range right {
		rule += map[bool]string{true: " ---: |", false: " :--- |"}[r]
	}
	if !m.row(heading + line(head) + rule + "\n") {
		return false
	}
	m.omitted(m.rows(n, func(i int) string { return line(row(i)) }))
	m.always("\n")
	return true
}

// rowsOf writes the rows of a table after a heading, as cells does.
func (m *page) rowsOf(heading string, t textTable, format func(string) string) bool {
	return m.cells(heading, t.head, t.right, len(t.rows), func(i int) []string { return t.rows[i] }, format)
}

func (m *page) table(t textTable) {
	if !m.rowsOf("## "+mdText(t.title)+"\n\n", t, mdText) {
		m.omittedRuns += len(t.rows)
		return
	}
	for _, line := range t.notes {
		m.always("%s\n\n", mdText(line))
	}
}

// mostTexts is how many rows of such a table a terminal shows.
const mostTexts = 40

func (t *terminal) table(g textTable) {
	fmt.Fprintf(&t.out, "%s\n%s\n", wrapped(g.title, t.Width, "  "), t.textRows(g))
	if more := len(g.rows) - mostTexts; more > 0 {
		fmt.Fprintf(&t.out, "  and %s; report.md has them\n", plural(more, "more row"))
	}
	for _, line := range g.notes {
		t.line("  ", line)
	}
	t.out.WriteByte('\n')
}

// textRows draws the first rows. If they are too wide, the last column becomes a line below each row where that is
// allowed, and then columns of words from the left lines above their rows.
func (t *terminal) textRows(g textTable) string {
	head, right := g.head, g.right
	var rows [][]string
	for _, row := range g.rows[:min(len(g.rows), mostTexts)] {
		rows = append(rows, slices.Clone(row))
	}
	drawn := ruled(head, right, rows)
	fits := func() bool { return t.Width <= 0 || text.LongestLineLen(drawn) <= t.Width }
	last := len(head) - 1
	below := make([]string, len(rows))
	if !fits() && g.below {
		for i, row := range rows {
			below[i], rows[i] = row[last], row[:last]
		}
		head, right = head[:last], right[:last]
		drawn = ruled(head, right, rows)
	}
	titles := make([]string, len(rows))
	for !fits() && len(head) > 1 && !right[0] {
		for i, row := range rows {
			titles[i] = sentence(" ", titles[i], head[0]+"="+row[0])
			rows[i] = row[1:]
		}
		head, right = head[1:], right[1:]
		drawn = ruled(head, right, rows)
	}
	return t.titled(drawn, titles, below)
}

// page is the table in HTML.
func (t textTable) page() *html.Table {
	out := &html.Table{Caption: t.title, Folded: len(t.rows) > mostRows}
	for i, h := range t.head {
		out.Columns = append(out.Columns, html.Column{Head: h, Right: t.right[i]})
	}
	for _, r := range t.rows {
		out.Rows = append(out.Rows, html.Row{Cells: r})
	}
	return out
}
