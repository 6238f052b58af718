package reporters

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// gain is a metric of a case compared with another case by an assertion: both values, and the gain with
// its interval.
type gain struct {
	of, against *results.Case
	metric      string
	verdict     *results.AssertionVerdict
}

// gainsOf returns those of the cases of a run.
func gainsOf(doc *results.Document, cases []*results.Case) []gain {
	var out []gain
	var byKey map[string]*results.Case
	for _, c := range cases {
		for _, a := range c.Assertions {
			metric, other, ok := gainIn(a)
			if !ok {
				continue
			}
			if byKey == nil {
				byKey = make(map[string]*results.Case, len(doc.Cases))
				for _, c := range doc.Cases {
					byKey[c.Key] = c
				}
			}
			if against := byKey[other]; against != nil {
				out = append(out, gain{c, against, metric, a})
			}
		}
	}
	return out
}

// gainIn recognises an assertion on a gain: one minus the ratio of a metric to itself at another case, or
// that ratio minus one.
func gainIn(a *results.AssertionVerdict) (metric, other string, ok bool) {
	e := a.Subject
	if e == nil || a.Observed == nil || e.Op != assertion.Sub || len(e.Args) != 2 {
		return "", "", false
	}
	one, ratio := e.Args[0], e.Args[1]
	if ratio.Op == assertion.Const {
		one, ratio = ratio, one
	}
	if one.Op != assertion.Const || one.Value != 1 || ratio.Op != assertion.Div || len(ratio.Args) != 2 {
		return "", "", false
	}
	own, before := ratio.Args[0], ratio.Args[1]
	if own.Op != assertion.Metric || before.Op != assertion.Metric || own.Metric != before.Metric || own.Case != "" ||
		before.Case == "" {
		return "", "", false
	}
	return own.Metric, before.Case, true
}

// gains draws the gains of a run as a chart and as a table: before, after and gain.
func (d *draft) gains(doc *results.Document, l *layout, cases []*results.Case) (figures []html.Figure,
	table *html.Table) {
	all := gainsOf(doc, cases)
	if len(all) == 0 {
		return nil, nil
	}
	table = &html.Table{Caption: plural(len(all), "gain"), Folded: len(all) > mostRows, Columns: []html.Column{
		{Head: "case"}, {Head: "against"}, {Head: "metric"}, {Head: "before", Right: true},
		{Head: "after", Right: true},
		{Head: "gain", Right: true}, {Head: results.ConfidenceText + " CI", Right: true},
		{Head: "verdict", Verdict: true},
	}}
	points := make([]html.Point, len(all))
	for i, g := range all {
		o := g.verdict.Observed
		text, low, high := results.SignedPercent(o.Value, o.CI, g.verdict.Bounds.Lower, g.verdict.Bounds.Upper)
		interval := gainInterval(o.CI, low, high)
		value := func(c *results.Case) string {
			m, ok := c.Metrics.Get(g.metric)
			if !ok {
				return "-"
			}
			s := results.ScaleFor(m.Value, m.Unit)
			return s.WithUnit(number(c, g.metric, s))
		}
		before, after := value(g.against), value(g.of)
		table.Rows = append(table.Rows, html.Row{Class: rowClass(g.verdict.Standing()), Cells: []string{
			plain(g.of.Key), plain(g.against.Key), plain(g.metric), before, after, text,
			interval,
			sentence(" ", sign(g.verdict, g.verdict.Standing()), g.verdict.Standing()),
		}})
		points[i] = html.Point{Y: o.Value, CI: o.CI, Lower: g.verdict.Bounds.Lower,
			Upper: g.verdict.Bounds.Upper, Says: []string{
				fmt.Sprintf("%s: %s %s better, %s", plain(g.of.Key), plain(g.metric), text,
					sentence(" ", sign(g.verdict, g.verdict.Standing()), g.verdict.Standing())),
				fmt.Sprintf("before %s (%s), after %s", before, plain(g.against.Key), after)}}
		if class := rowClass(g.verdict.Standing()); class == "bad" || class == "doubt" {
			points[i].Sign = sign(g.verdict, g.verdict.Standing())
		}
	}
	f := html.Figure{Title: "Gain against another case: better is above zero"}
	alone := !slices.ContainsFunc(all, func(g gain) bool { return g.metric != all[0].metric })
	if l.axis != "" && alone {
		f.Charts = gainsAlong(l, all, points)
	} else {
		f.Charts = []html.Chart{gainRows(all, points, alone)}
		if more := len(all) - mostBars; more > 0 {
			f.Note = fmt.Sprintf("%d further gains are in the table only", more)
		}
	}
	return []html.Figure{f}, table
}

// gainChart is an empty chart of gains.
func gainChart(kind html.Kind) html.Chart {
	return html.Chart{Kind: kind, Name: "gains", Y: html.Axis{Unit: "%", Signed: true},
		Interval: results.ConfidenceText + " interval"}
}

// gainsAlong draws the gains of one metric over the axis of a run.
func gainsAlong(l *layout, all []gain, points []html.Point) []html.Chart {
	at := map[*results.Case]int{}
	for i, g := range all {
		at[g.of] = i
	}
	var out []html.Chart
	for _, p := range l.panels {
		chart := gainChart(html.Lines)
		chart.Title, chart.X = p.title, html.Axis{Name: plain(l.axis), Log: l.log, Ticks: l.ticks}
		for _, s := range p.series {
			one := html.Series{Name: s.name}
			for _, c := range evenly(s.cases, fewPoints) {
				if i, ok := at[c]; ok && drawable(points[i].Y) {
					q := points[i]
					q.X = l.x[c]
					one.Points = append(one.Points, q)
				}
			}
			if len(one.Points) > 0 { // the others are the reference
				chart.Series = append(chart.Series, one)
			}
		}
		if len(chart.Series) > 0 {
			out = append(out, chart)
		}
	}
	return out
}

// gainRows draws gains in rows.
func gainRows(all []gain, points []html.Point, alone bool) html.Chart {
	chart := gainChart(html.Bars)
	series := html.Series{}
	for i, g := range all[:min(len(all), mostBars)] {
		if !drawable(points[i].Y) {
			continue
		}
		q, metric := points[i], ""
		if !alone {
			metric = plain(g.metric)
		}
		q.X = float64(len(chart.Rows))
		chart.Rows = append(chart.Rows, sentence(" ", plain(g.of.Key), metric))
		series.Points = append(series.Points, q)
	}
	chart.Series = []html.Series{series}
	return chart
}
