package reporters

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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
	if points == 0 {
		return f, false
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
	view := estimates{d: d, metric: metric, scale: axisScale(unit), more: points <= fewPoints}
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
			then := html.Series{Name: sentence(" ", "baseline", s.name), Look: html.Dashed, Of: s.name}
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
		if len(earlier) > 0 { // with one series that has no name a legend would not say what is which
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

// axisScale is what values of a unit are drawn in: an axis writes times with units of their own.
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

// nominal are the links of the site, in charts of bandwidths.
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

// baselineOf are the launches of the baseline by case.
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

// estimates are the points of one metric.
type estimates struct {
	d        *draft
	metric   string
	scale    results.Scale
	more     bool // a point says what its launches gave and which rank was the slowest
	interval string
}

// rows are estimates that have no order, one below the other.
func (e *estimates) rows(all []caseSeries, y html.Axis) html.Chart {
	chart := html.Chart{Kind: html.Bars, Name: plain(e.metric) + " of each case", Y: y}
	one := html.Series{}
	for _, s := range all {
		for _, c := range s.cases {
			if p, ok := e.point(c); ok {
				p.X = float64(len(chart.Rows))
				one.Points = append(one.Points, p)
				chart.Rows = append(chart.Rows, cmp.Or(s.name, plain(c.Run)))
			}
		}
	}
	chart.Series, chart.Interval = []html.Series{one}, e.interval
	return chart
}

// point is a case on a chart of the metric.
func (e *estimates) point(c *results.Case) (html.Point, bool) {
	m, ok := c.Metrics.Get(e.metric)
	if !ok || !drawable(m.Value) {
		return html.Point{}, false
	}
	at := func(v *float64) *float64 {
		if v == nil || !drawable(*v) {
			return nil
		}
		scaled := *v * e.scale.Factor
		return &scaled
	}
	p := html.Point{Y: m.Value * e.scale.Factor}
	if m.CI != nil && drawable(m.CI[0]) && drawable(m.CI[1]) {
		p.CI = &[2]float64{m.CI[0] * e.scale.Factor, m.CI[1] * e.scale.Factor}
		e.interval = results.PercentText(cmp.Or(m.Confidence, results.Confidence)) + " interval"
	}
	lower, upper := e.d.band(c, e.metric)
	p.Lower, p.Upper = at(lower), at(upper)
	defined, _ := e.d.metrics.Metric(c, e.metric)
	if v, ok := c.Metrics.Get(defined.Ceiling); ok {
		p.Ceiling = at(&v.Value)
	}
	verdict, mark := "-", ""
	for _, a := range c.Assertions {
		if s := a.Standing(); slices.Contains(e.d.judged(a), e.metric) && rank(s) < rank(verdict) {
			verdict, mark = s, sign(a, s)
		}
	}
	text := says(c, e.metric)
	if verdict != "-" {
		text += ", " + sentence(" ", mark, verdict)
	}
	p.Says = []string{text}
	if class := rowClass(verdict); class == "bad" || class == "doubt" {
		p.Sign = symbols[verdict]
	}
	if e.more {
		e.tellMore(c, &p, m.Unit)
	}
	return p, true
}

// tellMore adds to a point what each launch gave, and which rank was the slowest.
func (e *estimates) tellMore(c *results.Case, p *html.Point, unit string) {
	var gave []string
	var slowest results.RankShare
	launch, of := -1, 0
	for _, l := range c.Succeeded() {
		if v, ok := l.Metrics.Get(e.metric); ok && len(c.Launches) > 1 && drawable(v) {
			p.Launches = append(p.Launches, v*e.scale.Factor)
			s := results.ScaleFor(v, unit)
			text, _, _ := s.Estimate(v, nil)
			gave = append(gave, s.WithUnit(text))
		}
		for _, r := range l.Ranks {
			if len(l.Ranks) > 1 && (launch < 0 || r.Bandwidth < slowest.Bandwidth) {
				slowest, launch, of = r, l.Index, l.Initiators
			}
		}
	}
	if len(gave) > mostShown {
		gave = append(gave[:mostShown:mostShown], "…")
	}
	if len(gave) > 0 {
		p.Says = append(p.Says, "launches: "+strings.Join(gave, ", "))
	}
	if launch >= 0 {
		s := results.Scale{Unit: "GB/s", Factor: 1}
		text, _, _ := s.Estimate(slowest.Bandwidth, nil)
		p.Says = append(p.Says, fmt.Sprintf("slowest rank of %d: %d with %s, in %s", of, slowest.Rank,
			s.WithUnit(text), results.LaunchName(launch)))
	}
}

// before is what the launches of a baseline gave of the metric, as a point: their geometric mean,
// or the arithmetic one where some gave nothing.
func (e *estimates) before(launches []results.MetricValues, c *results.Case) (html.Point, bool) {
	var values []float64
	for _, l := range launches {
		if v, ok := l.Get(e.metric); ok && drawable(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return html.Point{}, false
	}
	sum, logs := 0., 0.
	for _, v := range values {
		sum += v
		logs += math.Log(v)
	}
	value := math.Exp(logs / float64(len(values)))
	if slices.Min(values) <= 0 {
		value = sum / float64(len(values))
	}
	unit := c.Metrics.At(e.metric).Unit
	return html.Point{Y: value * e.scale.Factor, Says: []string{"baseline of " + plain(c.Key) + ": " + plain(e.metric) +
		" " + results.Observed{Value: value, Unit: unit, N: len(values)}.String()}}, true
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
