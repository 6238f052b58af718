package reporters

import (
	"fmt"
	"strings"

	"weir/reporters/html"
	"weir/results"
)

// quantiles are the metrics that together are the distribution of a case's
// latencies, ascending.
var quantiles = []string{"latency.min", "latency.p50", "latency.p90", "latency.p95", "latency.p99", "latency.p999", "latency.max"}

// quantileFigure draws the distributions of a run: a line for a case, a panel for
// each series of its charts. Of an axis with many points it shows some.
func quantileFigure(l *layout) *html.Figure {
	var ticks []html.Tick
	place := map[string]float64{}
	for _, q := range quantiles {
		for _, p := range l.panels {
			for _, s := range p.series {
				if has(s.cases, q) && place[q] == 0 {
					place[q] = float64(len(ticks) + 1)
					ticks = append(ticks, html.Tick{At: place[q], Label: strings.Replace(strings.TrimPrefix(q, "latency."), "p999", "p99.9", 1)})
				}
			}
		}
	}
	if len(ticks) < 3 {
		return nil
	}
	f := &html.Figure{}
	groups, some := distributions(l)
	var values []float64
	var panels []html.Panel
	for _, g := range groups {
		p := html.Panel{Title: g.title}
		for _, s := range g.series {
			series := html.Series{Name: s.name}
			c := s.cases[0]
			for _, q := range quantiles {
				if m, ok := c.Metrics[q]; ok && drawable(m.Value) {
					series.Points = append(series.Points, html.Point{X: place[q], Y: m.Value, Says: plain(c.Key) + ": " + q + " " +
						results.Observed{Value: m.Value, Unit: m.Unit, CI: m.CI, N: m.N, Confidence: m.Confidence}.String()})
					values = append(values, m.Value)
				}
			}
			p.Series = append(p.Series, series)
		}
		panels = append(panels, p)
	}
	x := html.Axis{Name: "quantile", Ticks: ticks}
	y := html.Axis{Log: html.Wide(values), Label: tickLabel("s")}
	f.Drawings = html.Panels("latency by quantile", x, y, panels)
	f.Keys = keys(groups)
	if some {
		f.Note = "Some cases, evenly spread over the axis; the table below has all."
	}
	return f
}

// distributions are the cases whose distributions are drawn, each a series of its own:
// the points of each series of the charts in a panel. some says that there are more.
func distributions(l *layout) (out []panel, some bool) {
	some = l.omitted > 0 || l.thinned
	add := func(title string, all []caseSeries) {
		if len(all) > 0 {
			out = append(out, panel{title, all})
		}
	}
	for _, p := range l.panels {
		if l.axis == "" { // names of cases have no common series
			for from := 0; from < len(p.series); from += html.MostSeries {
				add("", p.series[from:min(from+html.MostSeries, len(p.series))])
			}
			continue
		}
		for _, s := range p.series {
			var each []caseSeries
			kept := evenly(s.cases, html.MostSeries)
			some = some || len(kept) < len(s.cases)
			for _, c := range kept {
				each = append(each, caseSeries{plain(l.axis) + "=" + setting(c, l.axis), []*results.Case{c}})
			}
			add(sentence(", ", p.title, s.name), each)
		}
	}
	if len(out) > mostPanels {
		out, some = out[:mostPanels], true
	}
	return out, some
}

// quantileTable has the distributions of all cases of a run.
func (d *definitions) quantileTable(g grid) *html.Table {
	t := &html.Table{Caption: fmt.Sprintf("Latencies of all cases of run %s", plain(g.run))}
	s := columnScale("s")
	names := axes(g.cases)
	for _, a := range names {
		t.Columns = append(t.Columns, html.Column{Head: plain(a), Right: allNumbers(g.cases, a)})
	}
	var shown []string
	for _, q := range quantiles {
		if has(g.cases, q) {
			shown = append(shown, q)
			t.Columns = append(t.Columns, html.Column{Head: strings.TrimPrefix(q, "latency.") + "\n" + s.Unit, Right: true, Metric: d.link(workloadOf(g.cases), q)})
		}
	}
	if len(shown) < 3 {
		return nil
	}
	for _, c := range g.cases {
		if len(c.Metrics) == 0 {
			continue
		}
		var cells []string
		for _, a := range names {
			cells = append(cells, setting(c, a))
		}
		for _, q := range shown {
			cells = append(cells, number(c, q, s))
		}
		t.Rows = append(t.Rows, html.Row{Cells: cells})
	}
	return t
}
