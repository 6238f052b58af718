package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
)

type gainColumn struct {
	head  string
	right bool
	cell  func(*results.Gain) string
}

// gainTables returns the tables of runs with variants.
func gainTables(doc *results.Document) []textTable {
	var out []textTable
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

// tooWide stands for an interval of a share that tells nothing.
const tooWide = "too wide"

// gainInterval formats a signed interval of a share for tables, or says that it tells nothing; nil: there is none.
func gainInterval(ci *[2]float64, low, high string) string {
	if ci != nil && results.UninformativeGain(ci) {
		return tooWide
	}
	return signedInterval(low, high)
}

// signedInterval formats a signed interval for tables.
func signedInterval(low, high string) string {
	return sentence("", sentence(" to ", low, high), dash(low))
}

func containsZero(ci *[2]float64) bool { return ci != nil && ci[0] <= 0 && ci[1] >= 0 }

func gainTableOf(t *results.Gains, judged map[gainKey]*results.AssertionVerdict) textTable {
	columns := []gainColumn{{"variant", false, func(g *results.Gain) string { return plain(g.Variant) }}}
	for _, axis := range axesOf(t.Rows) {
		columns = append(columns, gainColumn{plain(axis), false, func(g *results.Gain) string {
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
			ci := g.Gain.CI
			if a := judged[gainKey{g.Case, g.BaseCase, g.Metric}]; a != nil && !g.Additive {
				o := a.Observed
				value, low, high = results.SignedPercent(o.Value, o.CI, a.Bounds.Lower, a.Bounds.Upper)
				ci = o.CI
			}
			switch {
			case part == 0:
				return value
			case g.Additive:
				return signedInterval(low, high)
			}
			return gainInterval(ci, low, high)
		}
	}
	columns = append(columns,
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
			a := judged[gainKey{g.Case, g.BaseCase, g.Metric}]
			if a != nil && !g.Additive && containsZero(a.Observed.CI) { // the interval beside it
				return notShown
			}
			return shownText(g.Gain)
		}})
	g := textTable{title: fmt.Sprintf("Gains in %s over %s", plain(t.Run), plain(t.Baseline))}
	for _, c := range columns {
		g.head, g.right = append(g.head, c.head), append(g.right, c.right)
	}
	for _, r := range t.Rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.cell(r))
		}
		g.rows = append(g.rows, cells)
	}
	var cases, reasons []string
	for _, r := range t.Rows {
		if r.Gain == nil {
			why, _, _ := strings.Cut(r.Message, "\n")
			cases, reasons = append(cases, plain(r.Case)), append(reasons, plain(clip(why, " …")))
		}
	}
	g.notes = append(firstOf(eachReason(cases, reasons)), "gain: positive if the variant is better, in percent of before (×N: N times before), or in the metric's unit if the metric may be 0; real?: significant among all rows")
	return g
}

// axesOf returns the axes of rows, without the variant.
func axesOf(rows []*results.Gain) (axes []string) {
	for _, r := range rows {
		for axis := range r.Axes {
			axes = ordered.Append(axes, axis)
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

const notShown = "not shown"

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
	return notShown
}
