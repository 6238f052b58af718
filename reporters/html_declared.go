package reporters

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

const (
	mostDrawnCases = 4   // of charts with a drawing per case
	mostCourse     = 500 // points of a curve
	mostRankRows   = 64
)

// declared returns the charts that the workload of some cases declares.
func (d *draft) declared(l *layout, cases []*results.Case) []html.Figure {
	if len(cases) == 0 {
		return nil
	}
	kind, _ := workload.Lookup(cases[0].Workload)
	if kind == nil {
		return nil
	}
	measured := slices.DeleteFunc(slices.Clone(cases), func(c *results.Case) bool { return len(c.Succeeded()) == 0 })
	var out []html.Figure
	for _, chart := range kind.Show.Charts {
		var f html.Figure
		switch chart.Shows {
		case workload.Pairs:
			f = d.pairs(l, chart)
		case workload.Distribution:
			f = d.recorded(measured, chart)
		case workload.Course, workload.Rate, workload.Phases, workload.ByRank:
			f = d.ofLaunches(measured, chart)
		}
		if len(f.Charts) > 0 {
			f.Title, f.Note = chart.Title, sentence(" ", chart.Doc, f.Note)
			out = append(out, f)
		}
	}
	return out
}

// pairs draws one metric over another, joined along the axis of a run.
func (d *draft) pairs(l *layout, chart workload.ChartSpec) html.Figure {
	var f html.Figure
	var xs, ys []float64
	most := d.mostPoints(l)
	var all []html.Chart
	unitX, unitY := "", ""
	for _, p := range l.panels {
		drawn := html.Chart{Kind: html.Lines, Name: plain(chart.Title), Title: p.title}
		for _, s := range p.series {
			one := html.Series{Name: s.name}
			if l.axis == "" {
				one.Style = html.Loose
			}
			for _, c := range evenly(s.cases, most) {
				x, okX := c.Metrics.Get(chart.X)
				y, okY := c.Metrics.Get(chart.Y)
				if !okX || !okY || !drawable(x.Value) || !drawable(y.Value) {
					continue
				}
				unitX, unitY = x.Unit, y.Unit
				xs, ys = append(xs, x.Value), append(ys, y.Value)
				sx, sy := axisScale(x.Unit), axisScale(y.Unit)
				point := html.Point{X: x.Value * sx.Factor, Y: y.Value * sy.Factor,
					Says: []string{estimateText(c, chart.Y), estimateText(c, chart.X)}}
				if y.CI != nil && drawable(y.CI[0]) && drawable(y.CI[1]) {
					point.CI = &[2]float64{y.CI[0] * sy.Factor, y.CI[1] * sy.Factor}
					drawn.Interval = results.PercentText(cmp.Or(y.Confidence, results.Confidence)) + " interval"
				}
				one.Points = append(one.Points, point)
			}
			if len(one.Points) > 0 {
				drawn.Series = append(drawn.Series, one)
			}
		}
		if len(drawn.Series) > 0 {
			all = append(all, drawn)
		}
	}
	d.points += len(xs)
	for i := range all {
		all[i].X, all[i].Y = valueAxis(unitX, xs), valueAxis(unitY, ys)
		all[i].X.Name = sentence(" ", plain(chart.X), all[i].X.Name)
		all[i].Y.Name = sentence(" ", plain(chart.Y), all[i].Y.Name)
	}
	f.Charts = all
	return f
}

// recorded draws the distribution of columns over all ranks and launches.
func (d *draft) recorded(cases []*results.Case, chart workload.ChartSpec) html.Figure {
	some := evenly(cases, max(1, html.MostSeries/max(len(chart.Columns), 1)))
	var all []binned
	for _, c := range some {
		values := make([][]float64, len(chart.Columns))
		for _, l := range c.Succeeded() {
			for _, r := range d.samples.records(l) {
				for i, column := range chart.Columns {
					for _, list := range operations(r, chart, column) {
						for _, v := range list {
							values[i] = append(values[i], float64(v))
						}
					}
				}
			}
		}
		for i, column := range chart.Columns {
			name := plain(c.Key)
			if len(chart.Columns) > 1 {
				name += ", " + titleOf(column)
			}
			if len(values[i]) > 0 {
				bins := results.BinsOf(values[i], binsOf(len(some)*len(chart.Columns)))
				all = append(all, binned{name: name, bins: bins, count: int64(len(values[i]))})
			}
		}
	}
	if len(all) == 0 {
		return html.Figure{}
	}
	f := distribution(chart.Title, "", all)
	if len(some) < len(cases) {
		f.Note = fmt.Sprintf("%d of %d cases are drawn, evenly spread.", len(some), len(cases))
	}
	return f
}

// operations returns a column's values by charted operation: none, one or a list.
func operations(r *results.Records, chart workload.ChartSpec, column workload.RecordColumn) [][]int64 {
	of, since := r.Column(column.Name), r.Column(column.Since)
	if of == nil || column.Since != "" && (since == nil || since.Ends != nil || since.Len() != of.Len()) {
		return nil
	}
	out := make([][]int64, of.Len())
	for i := range out {
		if !drawsOperation(r, chart, i) {
			continue
		}
		list := []int64{}
		if of.Ends != nil {
			list = append(list, of.List(i)...)
		} else {
			list = append(list, of.Values[i])
		}
		start := int64(0)
		if since != nil {
			start = since.Values[i]
		}
		list = slices.DeleteFunc(list, func(v int64) bool { return v < 0 || start < 0 })
		for k := range list {
			list[k] -= start
		}
		out[i] = list
	}
	return out
}

// drawsOperation reports whether a chart includes an operation.
func drawsOperation(r *results.Records, chart workload.ChartSpec, i int) bool {
	for name, want := range chart.Only {
		c := r.Column(name)
		if c == nil || c.Ends != nil || i >= len(c.Values) || c.Values[i] != want {
			return false
		}
	}
	return true
}

func titleOf(c workload.RecordColumn) string { return plain(cmp.Or(c.Title, c.Name)) }

// ofLaunches draws records of one launch of each case.
func (d *draft) ofLaunches(cases []*results.Case, chart workload.ChartSpec) html.Figure {
	some := evenly(cases, mostDrawnCases)
	var f html.Figure
	for _, c := range some {
		launches := c.Succeeded()
		launch := launches[(len(launches)-1)/2]
		records := d.samples.records(launch)
		if len(records) == 0 {
			continue
		}
		var one html.Chart
		switch chart.Shows {
		case workload.Course:
			one = courseOf(records, chart)
		case workload.Rate:
			one = rateOf(records, chart)
		case workload.Phases:
			one = phasesOf(records, chart)
		default:
			one = rankMeans(records, chart)
		}
		if one.Kind == "" {
			continue
		}
		one.Name = plain(chart.Title)
		one.Title = fmt.Sprintf("%s, %s", plain(c.Key), results.LaunchName(launch.Index))
		f.Charts = append(f.Charts, one)
	}
	if len(f.Charts) > 0 && len(some) < len(cases) {
		f.Note = fmt.Sprintf("%d of %d cases are drawn, evenly spread.", len(some), len(cases))
	}
	return f
}

// courseOf draws columns over another one, for all ranks together.
func courseOf(records []*results.Records, chart workload.ChartSpec) html.Chart {
	const ns = 1e-9
	out := html.Chart{Kind: html.Lines, X: html.Axis{Unit: "s", Name: "time"}, Y: html.Axis{Unit: "s"}}
	first, found := int64(0), false
	for _, r := range records {
		if at := r.Column(chart.At); at != nil && at.Ends == nil {
			for _, v := range at.Values {
				if !found || v < first {
					first, found = v, true
				}
			}
		}
	}
	if !found {
		return html.Chart{}
	}
	var values []float64
	for _, column := range chart.Columns {
		series := html.Series{Name: titleOf(column), Style: html.Loose}
		for _, r := range records {
			at, of := r.Column(chart.At), operations(r, chart, column)
			if at == nil || at.Ends != nil || len(at.Values) != len(of) {
				continue
			}
			for i, v := range at.Values {
				if len(of[i]) != 1 {
					continue // not charted, or a list without a single value
				}
				x, y := float64(v-first)*ns, float64(of[i][0])*ns
				says := fmt.Sprintf("%s %s at %s, rank %d", series.Name, quantity.FormatTime(y), quantity.FormatTime(x),
					r.Rank)
				series.Points = append(series.Points, html.Point{X: x, Y: y, Says: []string{says}})
				values = append(values, y)
			}
		}
		slices.SortStableFunc(series.Points, func(a, b html.Point) int { return cmp.Compare(a.X, b.X) })
		series.Points = evenly(series.Points, mostCourse)
		out.Series = append(out.Series, series)
	}
	if len(values) == 0 {
		return html.Chart{}
	}
	out.Y.Log = html.Wide(values)
	return out
}

// phasesOf draws the phases of an operation in a median launch, one after the other.
func phasesOf(records []*results.Records, chart workload.ChartSpec) html.Chart {
	const ns = 1e-9
	out := html.Chart{Kind: html.Spans, X: html.Axis{Unit: "s", Name: "time"}}
	first, found := int64(0), false
	middle := func(r *results.Records) int { return r.Columns[0].Len() / 2 }
	begins := func(r *results.Records) (int64, bool) {
		if chart.At == "" {
			return 0, true
		}
		c := r.Column(chart.At)
		if c == nil || c.Ends != nil || len(c.Values) <= middle(r) {
			return 0, false
		}
		return c.Values[middle(r)], true
	}
	records = slices.DeleteFunc(slices.Clone(records), func(r *results.Records) bool {
		return len(r.Columns) == 0 || r.Columns[0].Len() == 0
	})
	for _, r := range records {
		if v, ok := begins(r); ok && (!found || v < first) {
			first, found = v, true
		}
	}
	for _, r := range evenly(records, mostRankRows) {
		at, ok := begins(r)
		if !ok {
			continue
		}
		row := len(out.Rows)
		out.Rows = append(out.Rows, fmt.Sprintf("rank %d", r.Rank))
		for _, column := range chart.Columns {
			c := r.Column(column.Name)
			if c == nil || c.Ends != nil || len(c.Values) <= middle(r) || c.Values[middle(r)] <= 0 {
				continue
			}
			took := c.Values[middle(r)]
			from, to := float64(at-first)*ns, float64(at-first+took)*ns
			out.Spans = append(out.Spans, html.Span{Row: row, From: from, To: to, Group: titleOf(column),
				Says: fmt.Sprintf("rank %d, %s: %s, from %s", r.Rank, titleOf(column), quantity.FormatTime(to-from),
					quantity.FormatTime(from))})
			at += took
		}
	}
	if len(out.Spans) == 0 {
		return html.Chart{}
	}
	return out
}

// rankMeans draws the means of columns, a row for each rank.
func rankMeans(records []*results.Records, chart workload.ChartSpec) html.Chart {
	const ns = 1e-9
	out := html.Chart{Kind: html.Heat, X: html.Axis{Unit: "s"}, Y: html.Axis{Name: "rank"}}
	for _, c := range chart.Columns {
		out.Columns = append(out.Columns, titleOf(c))
	}
	var means []float64
	for _, r := range evenly(records, mostRankRows) {
		row := len(out.Rows)
		out.Rows = append(out.Rows, fmt.Sprint(r.Rank))
		for i, column := range chart.Columns {
			c := r.Column(column.Name)
			if c == nil || len(c.Values) == 0 {
				continue
			}
			mean := 0.
			for _, v := range c.Values {
				mean += float64(v) * ns / float64(len(c.Values))
			}
			means = append(means, mean)
			out.Cells = append(out.Cells, html.Cell{Row: row, Column: i, Heat: mean,
				Says: fmt.Sprintf("rank %d, %s: %s on average", r.Rank, titleOf(column), quantity.FormatTime(mean))})
		}
	}
	if len(means) == 0 {
		return html.Chart{}
	}
	least, most := slices.Min(means), slices.Max(means)
	for i := range out.Cells {
		if most > least {
			out.Cells[i].Heat = (out.Cells[i].Heat - least) / (most - least)
		} else {
			out.Cells[i].Heat = 1
		}
	}
	out.Least, out.Most = quantity.FormatTime(least), quantity.FormatTime(most)
	return out
}
