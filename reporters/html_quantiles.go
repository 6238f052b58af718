package reporters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"weir/reporters/html"
	"weir/results"
)

// quantiles are the metrics that together are the distribution of a case's
// latencies, ascending.
var quantiles = []string{"latency.min", "latency.p50", "latency.p90", "latency.p95", "latency.p99", "latency.p999", "latency.max"}

// quantileFigures draw the distributions of a run, a line for a case: of an axis of numbers
// some of its values in a panel for each series of the charts, otherwise all cases, in as
// many figures as their lines need.
func quantileFigures(l *layout) []html.Figure {
	var ticks []html.Tick
	place := map[string]float64{}
	for _, q := range quantiles {
		if slices.ContainsFunc(l.panels, func(p panel) bool {
			return slices.ContainsFunc(p.series, func(s caseSeries) bool { return has(s.cases, q) })
		}) {
			place[q] = float64(len(ticks) + 1)
			ticks = append(ticks, html.Tick{At: place[q], Label: strings.Replace(strings.TrimPrefix(q, "latency."), "p999", "p99.9", 1)})
		}
	}
	if len(ticks) < 3 {
		return nil
	}
	if l.axis != "" {
		groups, some := distributions(l)
		f := quantileFigure(groups, ticks, place)
		if some {
			f.Note = "Some cases, evenly spread over " + plain(l.axis) + "; the table below has all."
		}
		return []html.Figure{f}
	}
	var out []html.Figure
	for chunk := range slices.Chunk(l.panels[0].series, html.MostSeries) {
		out = append(out, quantileFigure([]panel{{series: chunk}}, ticks, place))
	}
	return out
}

func quantileFigure(groups []panel, ticks []html.Tick, place map[string]float64) html.Figure {
	var values []float64
	var panels []html.Panel
	for _, g := range groups {
		p := html.Panel{Title: g.title}
		for _, s := range g.series {
			p.Series = append(p.Series, html.Series{Name: s.name})
			points := &p.Series[len(p.Series)-1].Points
			for _, q := range quantiles {
				if !has(s.cases, q) {
					continue
				}
				c := s.cases[0]
				if m, ok := c.Metrics.Get(q); ok && drawable(m.Value) {
					*points = append(*points, html.Point{X: place[q], Y: m.Value, Says: says(c, q)})
					values = append(values, m.Value)
				}
			}
		}
		panels = append(panels, p)
	}
	return html.Figure{Keys: keys(groups), Drawings: html.Panels("latency by quantile", html.Axis{Name: "quantile", Ticks: ticks},
		html.Axis{Log: html.Wide(values), Label: tickLabel("s")}, panels)}
}

// distributions are the cases of an axis whose distributions are drawn, each a series of
// its own, which is the same in all panels. some says that there are more cases.
func distributions(l *layout) (out []panel, some bool) {
	picked := evenly(l.ticks, html.MostSeries)
	some = l.omitted > 0 || len(picked) < len(l.ticks)
	for _, p := range l.panels {
		for _, s := range p.series {
			if len(s.cases) == 0 {
				continue
			}
			if len(out) == mostPanels {
				return out, true
			}
			drawn := panel{title: sentence(", ", p.title, s.name)}
			for _, t := range picked {
				one := caseSeries{name: plain(l.axis) + "=" + t.Label}
				if i, ok := slices.BinarySearchFunc(s.cases, t.At, func(c *results.Case, x float64) int { return cmp.Compare(l.x[c], x) }); ok {
					one.cases = s.cases[i : i+1]
				}
				drawn.series = append(drawn.series, one)
			}
			out = append(out, drawn)
		}
	}
	return out, some
}

// quantileTable has the distributions of all cases of a run.
func (d *draft) quantileTable(g grid) *html.Table {
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
		if c.Metrics.IsZero() {
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
