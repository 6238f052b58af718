package reporters

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/reporters/html"
)

// textTable is a table of texts beside those of runs: gains, claims.
type textTable struct {
	title string
	head  []string
	right []bool // by column
	rows  [][]string
	notes []string
}

func (m *page) table(t textTable) {
	var head, rule []string
	for i, h := range t.head {
		head = append(head, mdText(h))
		rule = append(rule, map[bool]string{true: "---:", false: ":---"}[t.right[i]])
	}
	if !m.row(fmt.Sprintf("## %s\n\n| %s |\n| %s |\n", mdText(t.title), strings.Join(head, " | "),
		strings.Join(rule, " | "))) {
		m.omittedRuns += len(t.rows)
		return
	}
	m.omitted(m.rows(len(t.rows), func(i int) string {
		cells := make([]string, len(t.rows[i]))
		for j, cell := range t.rows[i] {
			cells[j] = mdText(cell)
		}
		return "| " + strings.Join(cells, " | ") + " |\n"
	}))
	m.always("\n")
	for _, line := range t.notes {
		m.always("%s\n\n", mdText(line))
	}
}

// mostTexts is how many rows of such a table a terminal shows.
const mostTexts = 40

func (t *terminal) table(g textTable) {
	fmt.Fprintf(&t.out, "%s\n%s\n", g.title, ruled(g.head, g.right, g.rows[:min(len(g.rows), mostTexts)]))
	if more := len(g.rows) - mostTexts; more > 0 {
		fmt.Fprintf(&t.out, "  and %s; report.md has them\n", plural(more, "more row"))
	}
	for _, line := range g.notes {
		fmt.Fprintf(&t.out, "  %s\n", line)
	}
	t.out.WriteByte('\n')
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
