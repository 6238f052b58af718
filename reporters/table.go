package reporters

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/results"
)

// paint are the ANSI colours of standings. Unlike go-pretty's own they do not depend on the environment.
var paint = map[string]string{
	"pass": "32", "passed": "32", "xfail": "32", "fail": "31", "failed": "31", "xpass": "31", "error": "31",
	"aborted":      "31",
	"inconclusive": "33", "warn": "33", "info": "36", "skipped": "2", "excluded": "2",
}

// Table writes the report for a terminal: one table per run, then findings with their reasons, then the
// session in one line.
func Table(w io.Writer, doc *results.Document, look Look) error {
	t := terminal{Look: look}
	for _, text := range banners(doc) {
		fmt.Fprintf(&t.out, "%s\n\n", t.colored("warn", wrapped(text, t.Width, "  ")))
	}
	for _, g := range grids(attempted(doc)) {
		if g.heads {
			fmt.Fprintf(&t.out, "stage %s\n\n", plain(g.stage))
		}
		t.grid(g)
	}
	for _, g := range append(gainTables(doc), claimTables(doc)...) {
		t.table(g)
	}
	t.findings(doc)
	for _, line := range slices.Concat(variantNotes(doc), titledLine(variablesTitle, variables(doc)), sinceShort(doc),
		quantilesSince(doc),
		atMost(moreLines, recomputed(doc)), t.marks(doc), unseenModes(doc), atMost(moreLines, unsteady(doc)),
		atMost(moreLines, variancesShort(doc)), countersMoved(doc), ignored(doc),
		atMost(moreLines, oddOperations(doc)), undecidableValues(doc), chosenFabrics(doc), oneHost(doc),
		sameBuildLines(doc), fullLoads(doc),
		sharedMetrics(doc), retriedLaunches(doc),
		discarded(doc), disturbedKept(doc), unknownNoise(doc), oversubscribedNodes(doc), idleNodes(doc), leftOut(doc),
		atMost(moreLines, skippedLines(doc))) {
		t.line("  ", line)
	}
	if t.out.Len() > 0 {
		t.out.WriteByte('\n')
	}
	label := outcome(doc)
	last := wrapped(sentence(": ", label, headline(doc)), t.Width, "  ")
	fmt.Fprintf(&t.out, "%s%s\n", t.colored(doc.Session.Status, label), strings.TrimPrefix(last, label))
	_, err := io.WriteString(&printable.Writer{To: w, Styles: look.Color}, t.out.String())
	return err
}

// marks explains the marks of the columns that fit.
func (t *terminal) marks(doc *results.Document) []string {
	drawn := t.out.String()
	return slices.DeleteFunc(marks(doc), func(line string) bool {
		mark, _, _ := strings.Cut(line, " ")
		return !strings.Contains(drawn, mark)
	})
}

// attempted is the document without cases that were left out, which a line below the tables counts.
func attempted(doc *results.Document) *results.Document {
	d := *doc
	d.Cases = slices.DeleteFunc(slices.Clone(doc.Cases), func(c *results.Case) bool {
		return c.Status == results.Skipped || c.Status == results.Excluded
	})
	return &d
}

type terminal struct {
	Look
	out strings.Builder
}

func (t *terminal) colored(standing, s string) string {
	code := paint[standing]
	if !t.Color || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// rows are the cases of a run that the table shows. In a terminal, a long table has the first cases and
// those with findings.
func (t *terminal) rows(cases []*results.Case) []*results.Case {
	if len(cases) <= mostRows || t.Width == 0 || t.fixed() {
		return cases
	}
	var out []*results.Case
	for i, c := range cases {
		if s := standing(c); i < mostRows || s != string(results.Pass) && s != "-" {
			out = append(out, c)
		}
	}
	return out
}

// ruled is a table with a rule below its head; right marks numeric columns.
func ruled(head []string, right []bool, rows [][]string) string {
	tw := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault // units are case-sensitive
	style.Box.PaddingLeft, style.Box.PaddingRight = "  ", ""
	tw.SetStyle(style)
	var configs []table.ColumnConfig
	for i := range head {
		align := text.AlignLeft
		if right[i] {
			align = text.AlignRight
		}
		configs = append(configs, table.ColumnConfig{
			Number: i + 1, Align: align, AlignHeader: align, VAlignHeader: text.VAlignBottom,
		})
	}
	cells := func(list []string) (row table.Row) {
		for _, cell := range list {
			row = append(row, cell)
		}
		return row
	}
	tw.AppendHeader(cells(head))
	tw.SetColumnConfigs(configs)
	for _, row := range rows {
		tw.AppendRow(cells(row))
	}
	lines := strings.Split(tw.Render(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// line writes an indented text, wrapped.
func (t *terminal) line(indent, s string) {
	fmt.Fprintf(&t.out, "%s\n", wrapped(indent+s, t.Width, indent+"  "))
}

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}
