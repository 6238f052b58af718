package reporters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// fewestQuantiles is the minimum of quantiles for drawing a distribution.
const fewestQuantiles = 3

// quantileFamily are the metrics, ascending, that form a distribution.
type quantileFamily struct {
	name    string // latency for latency.p99
	metrics []workload.Metric
}

// quantiles returns the distributions of a run's cases.
func (d *draft) quantiles(cases []*results.Case) []quantileFamily {
	if len(cases) == 0 {
		return nil
	}
	var out []quantileFamily
	for _, m := range d.table(cases).Definitions {
		if m.Quantile == "" || !has(cases, m.Name) {
			continue
		}
		i := slices.IndexFunc(out, func(f quantileFamily) bool { return f.name == m.Family() })
		if i < 0 {
			i = len(out)
			out = append(out, quantileFamily{name: m.Family()})
		}
		out[i].metrics = append(out[i].metrics, m)
	}
	return slices.DeleteFunc(out, func(f quantileFamily) bool { return len(f.metrics) < fewestQuantiles })
}

// figures draws the distributions of a run, a line for each case: for a numeric axis some of its values in
// a panel for each series, otherwise all cases in as many figures as needed.
func (f quantileFamily) figures(l *layout) []html.Figure {
	if l.axis != "" {
		groups, some := someCases(l)
		drawn := f.figure(groups)
		if some {
			drawn.Note = "Some cases, evenly spread over " + plain(l.axis) + "; the table below has all."
		}
		return []html.Figure{drawn}
	}
	var out []html.Figure
	for chunk := range slices.Chunk(l.panels[0].series, html.MostSeries) {
		out = append(out, f.figure([]panel{{series: chunk}}))
	}
	return out
}

func (f quantileFamily) figure(groups []panel) html.Figure {
	var ticks []html.Tick
	for i, m := range f.metrics {
		ticks = append(ticks, html.Tick{At: float64(i + 1), Label: plain(m.Quantile)})
	}
	var values []float64
	var charts []html.Chart
	scale := axisScale(f.metrics[0].Unit)
	for _, g := range groups {
		p := html.Chart{Kind: html.Lines, Name: plain(f.name) + " by quantile", Title: g.title,
			X: html.Axis{Name: "quantile", Ticks: ticks}}
		for _, s := range g.series {
			p.Series = append(p.Series, html.Series{Name: s.name})
			points := &p.Series[len(p.Series)-1].Points
			for i, q := range f.metrics {
				if len(s.cases) == 0 {
					continue
				}
				c := s.cases[0]
				m, ok := c.Metrics.Get(q.Name)
				value, says := m.Value, estimateText(c, q.Name)
				if v, extreme := extremeOf(c, q); extreme {
					value, says = v, measuredText(v, m.Unit)
				}
				if ok && drawable(value) {
					*points = append(*points, html.Point{X: ticks[i].At, Y: value * scale.Factor, Says: []string{says}})
					values = append(values, value)
				}
			}
		}
		charts = append(charts, p)
	}
	for i := range charts {
		charts[i].Y = valueAxis(f.metrics[0].Unit, values)
	}
	return html.Figure{Title: plain(f.name) + " by quantile", Charts: charts}
}

// someCases selects cases of an axis, one series each, the same in all panels. some reports that there are
// more.
func someCases(l *layout) (out []panel, some bool) {
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
				if i, ok := slices.BinarySearchFunc(s.cases, t.At,
					func(c *results.Case, x float64) int { return cmp.Compare(l.x[c], x) }); ok {
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
func (d *draft) quantileTable(g grid, families []quantileFamily) *html.Table {
	if len(families) == 0 {
		return nil
	}
	t := &html.Table{Caption: fmt.Sprintf("%s of all cases of run %s, of all launches together", ofQuantiles(families),
		plain(g.run))}
	names := axes(g.cases)
	for _, a := range names {
		t.Columns = append(t.Columns, html.Column{Head: plain(a), Right: allNumbers(g.cases, a)})
	}
	var scales []results.Scale
	for _, f := range families {
		for _, m := range f.metrics {
			scale := scaleOfColumn(g.cases, m.Name)
			scales = append(scales, scale)
			head := m.Last() + ofSamples(g.cases, m)
			if len(families) > 1 {
				head = m.Name + ofSamples(g.cases, m)
			}
			head = strings.TrimSpace(plain(head) + "\n" + scale.Unit)
			link := d.link(g.cases[0].Workload, g.run, m.Name)
			t.Columns = append(t.Columns, html.Column{Head: head, Right: true, Metric: link})
		}
	}
	for _, c := range g.cases {
		if c.Metrics.IsZero() {
			continue
		}
		var cells []string
		for _, a := range names {
			cells = append(cells, setting(c, a))
		}
		column := 0
		for _, f := range families {
			for _, m := range f.metrics {
				cells = append(cells, quantileCell(c, m, scales[column]))
				column++
			}
		}
		t.Rows = append(t.Rows, html.Row{Cells: cells})
	}
	return t
}

// ofQuantiles says what the distributions measure.
func ofQuantiles(families []quantileFamily) string {
	for _, f := range families {
		if f.metrics[0].Unit != "s" {
			return "Quantiles"
		}
	}
	return "Latencies"
}

// quantileCell formats a quantile with as many digits as its neighbours have, so that they stand in order.
func quantileCell(c *results.Case, m workload.Metric, s results.Scale) string {
	e, ok := c.Metrics.Get(m.Name)
	if !ok {
		return "-"
	}
	value := e.Value
	if v, extreme := extremeOf(c, m); extreme {
		value = v
	}
	text, _, _ := s.Estimate(value, nil)
	return text + behind(m, e)
}

// extremeOf is the least or greatest value of all launches of a case, for metrics that are the extremes of a
// distribution: their estimates are means over launches, which may lie between the quantiles of all values. ok is
// false for other metrics.
func extremeOf(c *results.Case, m workload.Metric) (value float64, ok bool) {
	if m.Quantile == "" {
		return 0, false
	}
	return extremeIn(c, m.Name)
}

// extremeIn is the least value over all launches of a metric named min, and the greatest of one named max.
func extremeIn(c *results.Case, metric string) (value float64, ok bool) {
	last := workload.Metric{Name: metric}.Last()
	pick := map[string]func([]float64) float64{"min": slices.Min[[]float64], "max": slices.Max[[]float64]}[last]
	if pick == nil {
		return 0, false
	}
	var values []float64
	for _, l := range c.Succeeded() {
		if v, has := l.Metrics.Get(metric); has {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	return pick(values), true
}
