package reporters

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/results"
)

const (
	chartHeight = 13
	labelEvery  = 4  // rows
	chartWidth  = 80 // if the terminal's is unknown
	widestStep  = 4  // columns between sessions
)

// chart draws the sessions of a trend as points over their levels; numbers below the axis mark the first
// session of each new level. Sessions are evenly spaced; if there are more than columns, some share one.
func chart(t *history.Trend, scale results.Scale, width int) string {
	low, high := extent(t)
	labels := axisLabelsOf(low, high, scale)
	margin := 0
	for _, l := range labels {
		margin = max(margin, utf8.RuneCountInString(l))
	}
	if width <= 0 {
		width = chartWidth
	}
	columns := max(width-margin-3, 10)
	last := max(len(t.Points)-1, 1)
	step := min(float64(columns-1)/float64(last), widestStep)
	if step > 1 {
		step = math.Floor(step)
	}
	column := func(i int) int { return int(float64(i) * step) }
	columns = column(len(t.Points)-1) + 1
	row := func(v float64) int {
		// the difference of two large values may overflow
		r := (high/2 - v/2) / (high/2 - low/2) * (chartHeight - 1)
		if math.IsNaN(r) {
			return 0
		}
		return int(math.Round(min(max(r, 0), chartHeight-1)))
	}

	cells := make([][]rune, chartHeight)
	for i := range cells {
		cells[i] = []rune(strings.Repeat(" ", columns))
	}
	for i := range t.Points {
		x, end := column(i), column(i)+1
		if i+1 < len(t.Points) && sameLevel(t, i) {
			end = max(end, column(i+1))
		}
		for ; x < end; x++ {
			cells[row(t.Center(i))][x] = '─'
		}
	}
	for i, p := range t.Points {
		cells[row(p.Value)][column(i)] = '•'
	}
	axis := []rune(strings.Repeat("─", columns))
	marks := []rune(strings.Repeat(" ", columns+len(t.Changes)))
	for i, c := range t.Changes {
		axis[column(c.At)] = '┬'
		copy(marks[column(c.At):], []rune(strconv.Itoa(i+1)))
	}

	var b strings.Builder
	line := func(label string, mark rune, text []rune) {
		b.WriteString(strings.TrimRight(strings.Repeat(" ", margin-utf8.RuneCountInString(label))+label+" "+
			string(mark)+string(text), " ") + "\n")
	}
	for i, c := range cells {
		mark := '│'
		if labels[i] != "" {
			mark = '┤'
		}
		line(labels[i], mark, c)
	}
	line("", '└', axis)
	if len(t.Changes) > 0 {
		line("", ' ', marks)
	}
	line("", ' ', []rune(dates(t, columns)))
	return b.String()
}

// sameLevel reports whether the next point belongs to the level of a point.
func sameLevel(t *history.Trend, i int) bool {
	return !slices.ContainsFunc(t.Changes, func(c history.Change) bool { return c.At == i+1 })
}

// extent is the range of values of the chart, never empty.
func extent(t *history.Trend) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range t.Points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	if low == high {
		pad := max(math.Abs(low)*0.01, 1e-12)
		low, high = low-pad, high+pad
	}
	return low, high
}

// axisLabelsOf returns the labels of labelled rows, with enough digits to distinguish neighbours.
func axisLabelsOf(low, high float64, scale results.Scale) []string {
	labels := make([]string, chartHeight)
	step := (high - low) / (chartHeight - 1)
	for i := 0; i < chartHeight; i += labelEvery {
		v := high - float64(i)*step
		labels[i], _, _ = scale.Estimate(v, &[2]float64{v - step, v + step})
	}
	return labels
}

// dates is a line with the days of the first and the last session at its ends.
func dates(t *history.Trend, columns int) string {
	days := []string{
		t.Points[0].Started.UTC().Format("2006-01-02"), t.Points[len(t.Points)-1].Started.UTC().Format("2006-01-02"),
	}
	days = slices.Compact(days)
	if len(days) == 1 {
		return days[0]
	}
	return days[0] + strings.Repeat(" ", max(columns-len(days[0])-len(days[1]), 1)) + days[1]
}
