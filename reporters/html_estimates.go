package reporters

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// estimates are the points of one metric.
type estimates struct {
	d           *draft
	metric      string
	scale       results.Scale
	withDetails bool // tooltips list launches and the slowest rank
	interval    string
}

// rows draws unordered estimates in rows.
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
	text := estimateText(c, e.metric)
	if verdict != "-" {
		text += ", " + sentence(" ", mark, verdict)
	}
	p.Says = []string{text}
	if class := rowClass(verdict); class == "bad" || class == "doubt" {
		p.Sign = symbols[verdict]
	}
	if e.withDetails {
		e.addDetails(c, &p, m.Unit)
	}
	return p, true
}

// addDetails adds the value of each launch and the slowest rank to a tooltip.
func (e *estimates) addDetails(c *results.Case, p *html.Point, unit string) {
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

// before is a point for the launches of a baseline: their geometric mean, or the arithmetic one if a value
// is 0.
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

// estimateText formats an estimate.
func estimateText(c *results.Case, metric string) string {
	m := c.Metrics.At(metric)
	return plain(c.Key) + ": " + plain(metric) + " " +
		results.Observed{Value: m.Value, Unit: m.Unit, CI: m.CI, N: m.N, Confidence: m.Confidence}.Beside(
			results.ScaleFor(m.Value, m.Unit), boundsOf(c, m.Unit, metric)...)
}

// drawable reports whether a chart can show a value, which may be extreme in damaged documents.
func drawable(v float64) bool {
	return v == 0 || math.Abs(v) > 1e-100 && math.Abs(v) < 1e100
}
