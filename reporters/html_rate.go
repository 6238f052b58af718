package reporters

import (
	"fmt"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// rateBins is how many parts of a launch a rate is taken over.
const rateBins = 60

// timed is the time of an operation with what it has of a column.
type timed struct{ from, to, amount int64 }

// rateOf draws columns per second over time, for all ranks together.
func rateOf(records []*results.Records, chart workload.ChartSpec) html.Chart {
	out := html.Chart{
		Kind: html.Lines, X: html.Axis{Unit: "s", Name: "time"}, Y: html.Axis{Name: "per second"},
	}
	for _, column := range chart.Columns {
		if points := ratesOf(periods(records, chart, column), titleOf(column)); points != nil {
			out.Series = append(out.Series, html.Series{Name: titleOf(column), Style: html.Filled, Points: points})
		}
	}
	if len(out.Series) == 0 {
		return html.Chart{}
	}
	return out
}

// periods are those of the charted operations with an amount.
func periods(records []*results.Records, chart workload.ChartSpec, column workload.RecordColumn) (all []timed) {
	for _, r := range records {
		from, to, of := r.Column(chart.At), r.Column(chart.Until), operations(r, chart, column)
		if from == nil || to == nil || len(from.Values) != len(of) || len(to.Values) != len(of) {
			continue
		}
		for i, amount := range of {
			p := timed{from: from.Values[i], to: to.Values[i]}
			if len(amount) == 1 && amount[0] > 0 && p.from >= 0 && p.to >= p.from {
				p.amount = amount[0]
				all = append(all, p)
			}
		}
	}
	return all
}

// ratesOf is the amount per second in equal parts of the time from the first to the last timed; nil: there is none.
func ratesOf(all []timed, name string) []html.Point {
	const ns = 1e-9
	if len(all) == 0 {
		return nil
	}
	first, last := all[0].from, all[0].to
	for _, p := range all {
		first, last = min(first, p.from), max(last, p.to)
	}
	width := float64(last-first) / rateBins
	if width == 0 {
		return nil
	}
	var sums [rateBins]float64
	for _, p := range all {
		from, to := float64(p.from-first)/width, float64(p.to-first)/width // in bins
		for bin := min(int(from), rateBins-1); bin < rateBins && (float64(bin) < to || from == to); bin++ {
			if from == to {
				sums[bin] += float64(p.amount)
				break
			}
			within := min(to, float64(bin+1)) - max(from, float64(bin))
			sums[bin] += float64(p.amount) * within / (to - from)
		}
	}
	points := make([]html.Point, 0, rateBins+1)
	for bin, sum := range sums {
		x, y := float64(bin)*width*ns, sum/(width*ns)
		says := fmt.Sprintf("%s %s per second, %s to %s", quantity.Digits(y, 3), name, quantity.FormatTime(x),
			quantity.FormatTime(x+width*ns))
		points = append(points, html.Point{X: x, Y: y, Says: []string{says}})
	}
	end := points[rateBins-1]
	end.X = float64(last-first) * ns
	return append(points, end)
}
