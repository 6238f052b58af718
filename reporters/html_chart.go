package reporters

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/assertion"
	"weir/quantity"
	"weir/reporters/html"
	"weir/results"
	"weir/workload"
)

// mostFigures is how many metrics of a run have charts.
const mostFigures = 6

// charted are the metrics of a run that have charts: those that assertions judge,
// otherwise the first that was measured.
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
	seen := map[string]bool{} // one text makes the same assertion for many cases
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

// judged are the metrics that an assertion is about: the first that each of its
// subjects mentions, which are then held against others and against ceilings.
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

// A point takes some 250 bytes of the page, and what its launches measured as much again.
const (
	fewPoints  = 200   // of a figure that shows launches
	manyPoints = 2000  // of a figure
	pagePoints = 12000 // of all figures, but for a few of each
)

// mostPoints is how many points each series of the next figure may have.
func (d *draft) mostPoints(l *layout) int {
	series := 0
	for _, p := range l.panels {
		series += len(p.series)
	}
	return max(2, min(manyPoints, max(pagePoints-d.points, fewPoints))/max(series, 1))
}

// figure draws a metric over the cases of a run.
func (d *draft) figure(l *layout, metric string) (html.Figure, bool) {
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
	if points == 0 {
		return f, false
	}
	d.points += points
	f.Note = l.note()
	if thinned {
		f.Note = sentence("; ", f.Note, fmt.Sprintf("%d points of each series are drawn, evenly spread, and the table has all",
			most))
	}
	y := html.Axis{Name: strings.TrimPrefix(unitIn(unit), "in "), Log: html.Wide(values), Label: tickLabel(unit)}
	f.Metric = d.link(of.Workload, of.Run, metric)
	f.Title = unitIn(unit)
	point := func(c *results.Case) (html.Point, bool) {
		p, ok := d.estimate(c, metric, points <= fewPoints)
		f.Band = f.Band || p.Lower != nil || p.Upper != nil
		f.Ceiling = f.Ceiling || p.Ceiling != nil
		if p.CI != nil {
			f.Interval = results.PercentText(cmp.Or(c.Metrics.At(metric).Confidence, results.Confidence)) + " interval"
		}
		return p, ok
	}
	if l.axis == "" {
		var bars []html.Bar
		for _, s := range l.panels[0].series {
			for _, c := range s.cases {
				if p, ok := point(c); ok {
					bars = append(bars, html.Bar{Name: cmp.Or(s.name, plain(c.Run)), Point: p})
				}
			}
		}
		f.Drawings = append(f.Drawings, html.Strip(plain(metric)+" of each case", y, bars))
		return f, true
	}
	f.Title = sentence(" ", f.Title, "over "+plain(l.axis))
	x := html.Axis{Name: plain(l.axis), Log: l.log, Ticks: l.ticks}
	var panels []html.Panel
	for _, p := range l.panels {
		drawn := html.Panel{Title: p.title}
		for _, s := range p.series {
			series := html.Series{Name: s.name}
			for _, c := range evenly(s.cases, most) {
				if q, ok := point(c); ok {
					q.X = l.x[c]
					series.Points = append(series.Points, q)
				}
			}
			drawn.Series = append(drawn.Series, series)
		}
		panels = append(panels, drawn)
	}
	f.Drawings = html.Panels(plain(metric)+" over "+plain(l.axis), x, y, panels)
	f.Keys = keys(l.panels)
	return f, true
}

// keys are the names of the series, which are the same in all panels.
func keys(panels []panel) []string {
	var out []string
	for _, s := range panels[0].series {
		if s.name != "" {
			out = append(out, s.name)
		}
	}
	return out
}

// estimate is a case on a chart of one metric.
func (d *draft) estimate(c *results.Case, metric string, launches bool) (html.Point, bool) {
	m, ok := c.Metrics.Get(metric)
	if !ok || !drawable(m.Value) {
		return html.Point{}, false
	}
	p := html.Point{Y: m.Value, CI: m.CI}
	p.Lower, p.Upper = d.band(c, metric)
	defined, _ := d.metrics.Metric(c, metric)
	if v, ok := c.Metrics.Get(defined.Ceiling); ok {
		p.Ceiling = &v.Value
	}
	for _, l := range c.Succeeded() {
		if v, ok := l.Metrics.Get(metric); ok && launches && len(c.Launches) > 1 && drawable(v) {
			p.Launches = append(p.Launches, v)
		}
	}
	verdict := "-"
	for _, a := range c.Assertions {
		if s := a.Standing(); slices.Contains(d.judged(a), metric) && rank(s) < rank(verdict) {
			verdict = s
		}
	}
	p.Says = says(c, metric)
	if verdict != "-" {
		p.Says += ", " + labelled(verdict)
	}
	if class := rowClass(verdict); class == "bad" || class == "doubt" {
		p.Sign = symbols[verdict]
	}
	return p, true
}

// says is an estimate in words.
func says(c *results.Case, metric string) string {
	m := c.Metrics.At(metric)
	return plain(c.Key) + ": " + plain(metric) + " " +
		results.Observed{Value: m.Value, Unit: m.Unit, CI: m.CI, N: m.N, Confidence: m.Confidence}.String()
}

// drawable says whether a chart can have a place for a value. Only a damaged document has
// one of which no axis could be made.
func drawable(v float64) bool {
	return v == 0 || math.Abs(v) > 1e-100 && math.Abs(v) < 1e100
}

// band is where the assertions of a case want a metric, everything else that they
// mention being as it was measured: of bandwidth >= 0.2 * ceiling.bandwidth it is a fifth of the
// ceiling. Only of assertions that are proportional to the metric, or to its inverse.
func (d *draft) band(c *results.Case, metric string) (lower, upper *float64) {
	for _, a := range c.Assertions {
		if a.Subject == nil || a.Severity == assertion.Info || !alone(a.Subject) ||
			!slices.Contains(d.judged(a), metric) {
			continue
		}
		low, high, ok := solve(c, a, metric)
		if !ok {
			continue
		}
		if low != nil && (lower == nil || *low > *lower) {
			lower = low
		}
		if high != nil && (upper == nil || *high < *upper) {
			upper = high
		}
	}
	return lower, upper
}

var errNotMeasured = errors.New("not measured")

// solve moves the bounds of an assertion to the metric: it looks at the subject with the
// metric once, twice and four times as large as it was measured.
func solve(c *results.Case, a *results.AssertionVerdict, metric string) (low, high *float64, ok bool) {
	at := func(times float64) float64 {
		v, err := a.Subject.EvalWith(func(leaf *assertion.Expr) (float64, error) {
			m, ok := c.Metrics.Get(leaf.Metric)
			if !ok {
				return 0, errNotMeasured
			}
			if leaf.Metric == metric {
				return m.Value * times, nil
			}
			return m.Value, nil
		}, a.Unit)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	value, twice, four := at(1), at(2), at(4)
	is := func(v, want float64) bool { return math.Abs(v/value-want) < 1e-9 }
	if !(value > 0) {
		return nil, nil, false
	}
	low, high = a.Bounds.Lower, a.Bounds.Upper
	measured := c.Metrics.At(metric).Value
	move := func(bound *float64, factor func(float64) float64) *float64 {
		if bound == nil || *bound <= 0 {
			return nil
		}
		v := quantity.Round(measured * factor(*bound))
		if !drawable(v) {
			return nil
		}
		return &v
	}
	switch {
	case is(twice, 2) && is(four, 4):
		times := func(b float64) float64 { return b / value }
		return move(low, times), move(high, times), true
	case is(twice, 0.5) && is(four, 0.25):
		times := func(b float64) float64 { return value / b }
		return move(high, times), move(low, times), true
	}
	return nil, nil, false
}

func unitIn(unit string) string {
	switch unit {
	case "", "s": // labels of times have units of their own
		return ""
	}
	return "in " + columnScale(unit).Unit
}

// tickLabel writes the round numbers of an axis.
func tickLabel(unit string) func(float64) string {
	return func(v float64) string {
		if unit == "s" {
			if v == 0 {
				return "0"
			}
			s := results.ScaleFor(v, unit)
			return s.WithUnit(s.Exact(v))
		}
		return columnScale(unit).Exact(v)
	}
}
