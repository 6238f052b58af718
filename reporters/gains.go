package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
)

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
	columns := []tableColumn[*results.Gain]{
		{"variant", false, 0, func(g *results.Gain) string { return plain(g.Variant) }},
	}
	for _, axis := range axesOf(t.Rows) {
		columns = append(columns, tableColumn[*results.Gain]{plain(axis), false, 0, func(g *results.Gain) string {
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
	columns = append(columns, []tableColumn[*results.Gain]{
		{"metric", false, 0, func(g *results.Gain) string {
			return sentence("", plain(g.Metric), dash(g.Metric))
		}},
		{fmt.Sprintf("before (%s)", plain(t.Baseline)), true, 0, func(g *results.Gain) string {
			return observedText(g.Before, g.Unit)
		}},
		{"after", true, 0, func(g *results.Gain) string { return observedText(g.After, g.Unit) }},
		{"gain", true, 0, text(0)},
		{results.ConfidenceText + " CI", true, 0, text(1)},
		{"real?", false, 0, func(g *results.Gain) string {
			if g.Gain == nil {
				return "-"
			}
			a := judged[gainKey{g.Case, g.BaseCase, g.Metric}]
			if a != nil && !g.Additive && containsZero(a.Observed.CI) { // the interval beside it
				return notShown
			}
			return shownText(g.Gain)
		}},
	}...)
	g := tableOf(columns, t.Rows)
	g.title = fmt.Sprintf("Gains in %s over %s", plain(t.Run), plain(t.Baseline))
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
