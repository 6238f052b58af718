package reporters

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// mostFigures is how many metrics of a run have charts.
const mostFigures = 6

// charted are the metrics of a run with charts: asserted ones, otherwise the first measured.
func (d *draft) charted(doc *results.Document, cases []*results.Case) []string {
	var out []string
	add := func(a *results.AssertionVerdict) {
		for _, m := range d.judged(a) {
			if !slices.Contains(out, m) && has(cases, m) {
				out = append(out, m)
			}
		}
	}
	own := make(map[string]bool, len(cases))
	seen := map[string]bool{} // assertions of one text
	for _, c := range cases {
		own[c.Key] = true
		for _, a := range c.Assertions {
			if !seen[a.Text] {
				seen[a.Text] = true
				add(a)
			}
		}
	}
	for _, a := range doc.Assertions {
		if slices.ContainsFunc(a.Cases, func(key string) bool { return own[key] }) {
			add(a)
		}
	}
	if len(cases) == 0 {
		return nil
	}
	unmeasured := func(m workload.Metric) bool { return !has(cases, m.Name) }
	measured := slices.DeleteFunc(slices.Clone(d.table(cases).Definitions), unmeasured)
	for _, m := range slices.Backward(measured) {
		if m.Headline {
			out = append([]string{m.Name}, slices.DeleteFunc(out,
				func(other string) bool { return other == m.Name })...)
		}
	}
	if len(out) == 0 && len(measured) > 0 {
		return []string{measured[0].Name}
	}
	return out[:min(len(out), mostFigures)]
}

// table has the metrics of the cases of a run.
func (d *draft) table(cases []*results.Case) *results.MetricTable {
	return d.metrics.Of(cases[0].Workload, cases[0].Run)
}

// judged returns the metrics that an assertion is about: the first of each of its subjects; others are
// references.
func (d *draft) judged(a *results.AssertionVerdict) []string {
	var out []string
	add := func(e *assertion.Expr) {
		for _, m := range e.Metrics() {
			if !d.metrics.Reference(m) {
				out = append(out, m)
				return
			}
		}
	}
	add(a.Subject)
	for _, p := range a.Parts {
		add(p.Subject)
	}
	return out
}

// A point takes about 250 bytes of the page, and its launches as much again.
const (
	fewPoints  = 200   // of a figure with launches
	manyPoints = 2000  // of a figure
	pagePoints = 12000 // of all figures, except for a few of each
)

// mostPoints is the maximal number of points of a series of the next figure.
func (d *draft) mostPoints(l *layout) int {
	series := 0
	for _, p := range l.panels {
		series += len(p.series)
	}
	return max(2, min(manyPoints, max(pagePoints-d.points, fewPoints))/max(series, 1))
}

// figure draws a metric over the cases of a run.
func (d *draft) figure(doc *results.Document, l *layout, metric string) (html.Figure, bool) {
	var f html.Figure
	var values []float64
	most, thinned := d.mostPoints(l), false // of a series
	points := 0
	unit := ""
	var of *results.Case
	for _, p := range l.panels {
		for _, s := range p.series {
			thinned = thinned || len(s.cases) > most
			for _, c := range evenly(s.cases, most) {
				if m, ok := c.Metrics.Get(metric); ok && drawable(m.Value) {
					values = append(values, m.Value)
					unit, of = m.Unit, c
					points++
				}
			}
		}
	}
	if !slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) {
		return f, false // a line at 0 shows nothing that the table does not say
	}
	d.points += points
	f.Note = l.note()
	if thinned {
		f.Note = sentence("; ", f.Note, fmt.Sprintf("%d points of each series are drawn, evenly spread, and the table has all",
			most))
	}
	f.Metric = d.link(of.Workload, of.Run, metric)
	f.Title = unitIn(unit)
	y := valueAxis(unit, values)
	view := estimates{d: d, metric: metric, scale: axisScale(unit), withDetails: points <= fewPoints}
	if l.axis == "" {
		f.Charts = []html.Chart{view.rows(l.panels[0].series, y)}
		return f, true
	}
	f.Title = sentence(" ", f.Title, "over "+plain(l.axis))
	x := html.Axis{Name: plain(l.axis), Log: l.log, Ticks: l.ticks}
	base := baselineOf(doc)
	for _, p := range l.panels {
		chart := html.Chart{Kind: html.Lines, Name: plain(metric) + " over " + plain(l.axis), Title: p.title,
			X: x, Y: y,
			Levels: nominal(doc, unit)}
		var earlier []html.Series
		for _, s := range p.series {
			one := html.Series{Name: s.name}
			then := html.Series{Name: sentence(" ", "baseline", s.name), Style: html.Dashed, Of: s.name}
			for _, c := range evenly(s.cases, most) {
				if q, ok := view.point(c); ok {
					q.X = l.x[c]
					one.Points = append(one.Points, q)
				}
				if q, ok := view.before(base[c.Key], c); ok {
					q.X = l.x[c]
					then.Points = append(then.Points, q)
				}
			}
			chart.Series = append(chart.Series, one)
			if len(then.Points) > 0 {
				earlier = append(earlier, then)
			}
		}
		if len(earlier) > 0 { // a single unnamed series needs a name beside the baseline's
			for i := range chart.Series {
				if chart.Series[i].Name == "" {
					chart.Series[i].Name, earlier[0].Of = "now", "now"
				}
			}
		}
		chart.Series = append(chart.Series, earlier...)
		chart.Interval = view.interval
		f.Charts = append(f.Charts, chart)
	}
	return f, true
}

// axisScale is the scale of an axis, which formats times itself.
func axisScale(unit string) results.Scale {
	if unit == "s" {
		return results.Scale{Unit: "s", Factor: 1}
	}
	return columnScale(unit)
}

// valueAxis is the axis of values of a unit.
func valueAxis(unit string, values []float64) html.Axis {
	axis := html.Axis{Log: html.Wide(values)}
	if unit == "s" {
		axis.Unit = "s"
	} else {
		axis.Name = axisScale(unit).Unit
	}
	return axis
}

// nominal are the site's links, for charts of bandwidths.
func nominal(doc *results.Document, unit string) []html.Level {
	if doc.Site == nil || unit != "GB/s" {
		return nil
	}
	var out []html.Level
	for _, name := range slices.Sorted(maps.Keys(doc.Site.Links)) {
		out = append(out, html.Level{Name: "nominal " + plain(name), At: doc.Site.Links[name]})
	}
	return out
}

// baselineOf returns the launches of the baseline by case.
func baselineOf(doc *results.Document) map[string][]results.MetricValues {
	if doc.Baseline == nil {
		return nil
	}
	out := make(map[string][]results.MetricValues, len(doc.Baseline.Cases))
	for _, c := range doc.Baseline.Cases {
		out[c.Key] = c.Launches
	}
	return out
}

func unitIn(unit string) string {
	switch unit {
	case "", "s": // labels of times have units of their own
		return ""
	}
	return "in " + columnScale(unit).Unit
}
