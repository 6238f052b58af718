package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

// gainTable is a table of before, after and gain for display.
type gainTable struct {
	title   string
	columns []gainColumn
	rows    []*results.Gain
	notes   []string
}

type gainColumn struct {
	head  string
	right bool
	cell  func(*results.Gain) string
}

// gainTables returns the tables of runs with variants.
func gainTables(doc *results.Document) []gainTable {
	var out []gainTable
	judged := map[gainKey]*results.AssertionVerdict{}
	for _, g := range gainsOf(doc, doc.Cases) {
		judged[gainKey{g.of.Key, g.against.Key, g.metric}] = g.verdict
	}
	for _, t := range doc.Gains {
		if len(t.Rows) > 0 {
			out = append(out, gainTableOf(t, judged))
		}
	}
	return out
}

// gainKey identifies a gain. If an assertion is about it, tables show the interval of its verdict, as the
// message does.
type gainKey struct{ of, against, metric string }

// gainInterval formats a signed interval for tables.
func gainInterval(low, high string) string {
	return sentence("", sentence(" to ", low, high), dash(low))
}

func gainTableOf(t *results.Gains, judged map[gainKey]*results.AssertionVerdict) gainTable {
	g := gainTable{
		title: fmt.Sprintf("Gains in %s over %s", plain(t.Run), plain(t.Baseline)), rows: t.Rows,
		columns: []gainColumn{{"variant", false, func(g *results.Gain) string { return plain(g.Variant) }}},
	}
	for _, axis := range axesOf(t.Rows) {
		g.columns = append(g.columns, gainColumn{plain(axis), false, func(g *results.Gain) string {
			if v, ok := g.Axes[axis]; ok {
				return plain(option.Text(v))
			}
			return "-"
		}})
	}
	text := func(part int) func(*results.Gain) string {
		return func(g *results.Gain) string {
			if g.Gain == nil {
				return "-"
			}
			value, low, high := g.Text()
			if a := judged[gainKey{g.Case, g.BaseCase, g.Metric}]; a != nil && !g.Additive {
				o := a.Observed
				value, low, high = results.SignedPercent(o.Value, o.CI, a.Bounds.Lower, a.Bounds.Upper)
			}
			if part == 0 {
				return value
			}
			return gainInterval(low, high)
		}
	}
	g.columns = append(g.columns,
		gainColumn{"metric", false, func(g *results.Gain) string {
			return sentence("", plain(g.Metric), dash(g.Metric))
		}},
		gainColumn{fmt.Sprintf("before (%s)", plain(t.Baseline)), true, func(g *results.Gain) string {
			return observedText(g.Before, g.Unit)
		}},
		gainColumn{"after", true, func(g *results.Gain) string { return observedText(g.After, g.Unit) }},
		gainColumn{"gain", true, text(0)},
		gainColumn{results.ConfidenceText + " CI", true, text(1)},
		gainColumn{"real?", false, func(g *results.Gain) string {
			if g.Gain == nil {
				return "-"
			}
			return shownText(g.Gain)
		}})
	for _, r := range t.Rows {
		if r.Gain == nil {
			why, _, _ := strings.Cut(r.Message, "\n")
			g.notes = append(g.notes, plain(r.Case)+": "+plain(clip(why, " …")))
		}
	}
	g.notes = append(firstOf(g.notes), "gain: positive if the variant is better, in percent of before, or in the metric's unit if the metric may be 0; real?: significant among all rows")
	return g
}

// axesOf returns the axes of rows, without the variant.
func axesOf(rows []*results.Gain) (axes []string) {
	for _, r := range rows {
		for axis := range r.Axes {
			if !slices.Contains(axes, axis) {
				axes = append(axes, axis)
			}
		}
	}
	slices.Sort(axes)
	return axes
}

func observedText(o *results.Observed, unit string) string {
	if o == nil {
		return "-"
	}
	s := results.ScaleFor(o.Value, unit)
	v, _, _ := s.Estimate(o.Value, o.CI)
	return s.WithUnit(v)
}

// shownText says whether a change was found.
func shownText(c *results.Change) string {
	switch {
	case c.Q == nil:
		return "-"
	case c.BeyondLaunches():
		return "if sessions are alike"
	case c.Found:
		return "yes"
	}
	return "not shown"
}

// cells formats a row.
func (t *gainTable) cells(r *results.Gain) (out []string) {
	for _, c := range t.columns {
		out = append(out, c.cell(r))
	}
	return out
}

func (m *page) gains(t gainTable) {
	var head, rule []string
	for _, c := range t.columns {
		head = append(head, mdText(c.head))
		rule = append(rule, map[bool]string{true: "---:", false: ":---"}[c.right])
	}
	if !m.row(fmt.Sprintf("## %s\n\n| %s |\n| %s |\n", mdText(t.title), strings.Join(head, " | "),
		strings.Join(rule, " | "))) {
		m.omittedRuns += len(t.rows)
		return
	}
	m.omitted(m.rows(len(t.rows), func(i int) string {
		cells := t.cells(t.rows[i])
		for j := range cells {
			cells[j] = mdText(cells[j])
		}
		return "| " + strings.Join(cells, " | ") + " |\n"
	}))
	m.always("\n")
	for _, line := range t.notes {
		m.always("%s\n\n", mdText(line))
	}
}

// mostGains is how many rows of a table of gains a terminal shows.
const mostGains = 40

func (t *terminal) gains(g gainTable) {
	var head []string
	var right []bool
	for _, c := range g.columns {
		head, right = append(head, c.head), append(right, c.right)
	}
	var rows [][]string
	for _, r := range g.rows[:min(len(g.rows), mostGains)] {
		rows = append(rows, g.cells(r))
	}
	fmt.Fprintf(&t.out, "%s\n%s\n", g.title, ruled(head, right, rows))
	if more := len(g.rows) - mostGains; more > 0 {
		fmt.Fprintf(&t.out, "  and %s; report.md has them\n", plural(more, "more row"))
	}
	for _, line := range g.notes {
		fmt.Fprintf(&t.out, "  %s\n", line)
	}
	t.out.WriteByte('\n')
}
