package reporters

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// MostCompared is the largest number of documents in one comparison.
const MostCompared = 8

// columnsLegend explains a table of several documents.
const columnsLegend = "each change is against A, with the verdict of weir compare A and that document, which also shows the interval"

// letter names the i-th document in the head of its column.
func letter(i int) string { return string(rune('A' + i)) }

// documentTexts are the compared documents with their letters, and the headline of each comparison.
func documentTexts(all []*results.Comparison) []string {
	var lines []string
	if slices.ContainsFunc(all, func(c *results.Comparison) bool { return c.Simulated }) {
		lines = append(lines, partlySimulated)
	}
	lines = append(lines, letter(0)+"  "+comparedText(all[0].Base))
	for i, c := range all {
		lines = append(lines, letter(i+1)+"  "+comparedText(c.New), "   "+comparisonHeadline(c))
	}
	return lines
}

// across is a table of a case and metric per row and a document per column: the value and its change against the first.
type across struct {
	textTable
	// effects are those of the cells; nil: the document has no such row.
	effects [][]*results.Effect
}

func acrossOf(all []*results.Comparison) across {
	t := across{textTable: textTable{head: []string{"case", "metric", letter(0)}, right: []bool{false, false, true}}}
	row := map[[2]string]int{}
	for i, c := range all {
		t.head, t.right = append(t.head, letter(i+1)), append(t.right, true)
		for _, e := range c.Effects {
			key := [2]string{e.Case, e.Metric}
			at, ok := row[key]
			if !ok {
				at = len(t.rows)
				row[key] = at
				t.rows = append(t.rows, []string{plain(e.Case), sentence("", plain(e.Metric), dash(e.Metric)), "-"})
				t.effects = append(t.effects, make([]*results.Effect, len(all)))
			}
			t.effects[at][i] = e
			if e.Base != nil {
				t.rows[at][2] = observedText(e.Base, e.Unit)
			}
		}
	}
	for at, effects := range t.effects {
		for _, e := range effects {
			t.rows[at] = append(t.rows[at], acrossCell(e))
		}
	}
	return t
}

// acrossCell is a value with its change and the symbol of its verdict.
func acrossCell(e *results.Effect) string {
	if e == nil {
		return "-"
	}
	change := ""
	if e.Change != nil {
		change, _, _ = e.ChangeText()
	}
	return sentence("  ", observedText(e.New, e.Unit), sentence(" ", change, symbols[standingOf(e.Verdict)]))
}

// ComparisonsText writes comparisons of several documents with the same base for a terminal, a column each. A width
// above zero is the terminal's: of columns that do not fit, all are in rows of a document each.
func ComparisonsText(w io.Writer, all []*results.Comparison, color bool, width int) error {
	t := terminal{Look: Look{Color: color, Width: width}}
	for _, line := range documentTexts(all) {
		fmt.Fprintf(&t.out, "%s\n", wrapped(line, t.Width, "   "))
	}
	table := acrossOf(all)
	drawn := ruled(table.head, table.right, table.colored(&t))
	if width > 0 && text.LongestLineLen(drawn) > width {
		drawn = table.downwards(&t)
	}
	fmt.Fprintf(&t.out, "\n%s\n\n", drawn)
	for i, c := range all {
		t.details(letter(i+1), details(c, true))
	}
	t.out.WriteByte('\n')
	t.line("  ", columnsLegend)
	_, err := io.WriteString(&printable.Writer{To: w, Styles: color}, t.out.String())
	return err
}

// colored are the rows with the colours of verdicts.
func (a across) colored(t *terminal) [][]string {
	var rows [][]string
	for at, row := range a.rows {
		painted := append([]string{}, row...)
		for i, e := range a.effects[at] {
			if e != nil {
				painted[3+i] = t.colored(standingOf(e.Verdict), painted[3+i])
			}
		}
		rows = append(rows, painted)
	}
	return rows
}

// downwards draws a line per document below each case and metric.
func (a across) downwards(t *terminal) string {
	var b strings.Builder
	for at, row := range a.colored(t) {
		fmt.Fprintf(&b, "%s\n", wrapped(a.rows[at][0]+"  "+a.rows[at][1], t.Width, "  "))
		for i, cell := range row[2:] {
			fmt.Fprintf(&b, "    %s  %s\n", letter(i), cell)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// ComparisonsMarkdown writes comparisons of several documents with the same base for pull requests and job summaries.
func ComparisonsMarkdown(w io.Writer, all []*results.Comparison) error {
	m := page{limit: markdownBudget, fullTable: "--format json"}
	m.always("# %s compared\n\n", plural(len(all)+1, "document"))
	for _, line := range documentTexts(all) {
		m.always("- %s\n", mdText(strings.TrimSpace(line)))
	}
	table := acrossOf(all)
	if !m.rowsOf("\n", table.textTable, mdText) {
		m.omitted(len(table.rows))
	}
	var lines []string
	for i, c := range all {
		for _, d := range details(c, true) {
			lines = append(lines, letter(i+1)+" "+d.line())
		}
	}
	m.list("Details", lines)
	m.list("How to read it", []string{columnsLegend})
	_, err := io.WriteString(w, m.out.String())
	return err
}

// acrossRun is the table of several documents on a page.
func acrossRun(all []*results.Comparison) html.Run {
	table := acrossOf(all)
	r := html.Run{ID: "documents", Name: "All documents", Table: *table.page()}
	r.Table.Caption, r.Table.Folded = plural(len(table.rows), "row"), false
	for at, effects := range table.effects {
		row := &r.Table.Rows[at]
		row.Marks = map[int]string{}
		for i, e := range effects {
			if e != nil {
				row.Marks[len(row.Cells)-len(all)+i] = rowClass(standingOf(e.Verdict))
			}
		}
	}
	return r
}
