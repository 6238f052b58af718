package reporters

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// All numbers of all reports are formatted here, on top of results.Scale, with the digits that their
// interval supports. The interval of a metric is always that of its estimate in the document.

// number formats the estimate of a metric for a column; "-" if there is none.
func number(c *results.Case, metric string, s results.Scale) string {
	m, ok := c.Metrics.Get(metric)
	if !ok {
		return "-"
	}
	if m.CV == 0 && m.Unit == "" && s.Factor == 1 && m.Median == math.Trunc(m.Median) && m.Median < 1e6 {
		return strconv.FormatFloat(m.Median, 'f', -1, 64) // an exact count
	}
	v, _, _ := s.Estimate(m.Value, m.CI, boundsOf(c, m.Unit, metric)...)
	return v
}

// boundsOf returns the bounds of a metric in its case's own assertions. Intervals get enough digits to lie
// visibly on the correct side, as in messages.
func boundsOf(c *results.Case, unit, metric string) (bounds []*float64) {
	for _, a := range c.Assertions {
		if e := a.Subject; e != nil && e.Op == assertion.Metric && e.Metric == metric && e.Case == "" && !e.Baseline &&
			a.Unit == unit {
			bounds = append(bounds, a.Bounds.Lower, a.Bounds.Upper)
		}
	}
	return bounds
}

// sampled is number followed by the samples behind a tail quantile in the launch with the fewest: "5.74
// (188)".
func sampled(c *results.Case, m results.Metric, s results.Scale) string {
	e, _ := c.Metrics.Get(m.Name)
	return number(c, m.Name, s) + behind(m, e)
}

// behind is the number of samples behind a tail quantile: " (188)"; "" if it is unknown, and for other metrics.
func behind(m results.Metric, e results.MetricEstimate) string {
	if !m.Tail() || e.Samples == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d)", e.Samples)
}

// ofSamples is the heading for such numbers; "" for others.
func ofSamples(cases []*results.Case, m results.Metric) string {
	if m.Tail() && slices.ContainsFunc(cases, func(c *results.Case) bool {
		e, ok := c.Metrics.Get(m.Name)
		return ok && e.Samples > 0
	}) {
		return " (of)"
	}
	return ""
}

// interval is the confidence interval of a metric, or why there is none: "n=1" of one launch; "-" without a value.
func interval(c *results.Case, metric string, s results.Scale) string {
	m, ok := c.Metrics.Get(metric)
	switch {
	case !ok || quantity.Endless(m.Value):
		return "-"
	case m.CI == nil:
		return fmt.Sprintf("n=%d", m.N)
	}
	return s.Interval(m.Value, m.CI, boundsOf(c, m.Unit, metric)...)
}

// raw is a number for machines: the shortest form that reads back the same.
func raw(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// significantText is a reference number with five digits.
func significantText(v float64) string { return quantity.Digits(v, 5) }

// cvText is a coefficient of variation with two digits.
func cvText(cv float64) string { return results.Percent.WithUnit(quantity.Digits(cv*100, 2)) }

// columnScales are the units of columns, the smallest first: times in µs, as in other tools, and amounts in MB, unless
// the values are too large.
func columnScales(unit string) []results.Scale {
	switch unit {
	case "s":
		return []results.Scale{results.Micro, {Unit: "ms", Factor: 1e3}, {Unit: "s", Factor: 1}}
	case "B":
		return []results.Scale{{Unit: "MB", Factor: 1e-6}, {Unit: "GB", Factor: 1e-9}, {Unit: "TB", Factor: 1e-12}}
	}
	return []results.Scale{{Unit: unit, Factor: 1}}
}

// Most values of a column are below mostUsual in its unit, and all below mostOdd.
const (
	mostUsual = 1e4
	mostOdd   = 1e5
)

// columnScale is the unit of a column of values, equal in all rows: the smallest that fits.
func columnScale(unit string, values ...float64) results.Scale {
	var sizes []float64
	for _, v := range values {
		if v != 0 && !quantity.Endless(v) {
			sizes = append(sizes, math.Abs(v))
		}
	}
	scales := columnScales(unit)
	if len(sizes) == 0 {
		return scales[0]
	}
	slices.Sort(sizes)
	usual, most := sizes[(len(sizes)-1)/2], sizes[len(sizes)-1]
	i := slices.IndexFunc(scales,
		func(s results.Scale) bool { return usual*s.Factor < mostUsual && most*s.Factor < mostOdd })
	if i < 0 {
		i = len(scales) - 1
	}
	return scales[i]
}

// scaleOfColumn is the unit of a column of metrics with one unit.
func scaleOfColumn(cases []*results.Case, metrics ...string) results.Scale {
	unit := ""
	var values []float64
	for _, c := range cases {
		for _, name := range metrics {
			if m, ok := c.Metrics.Get(name); ok {
				unit, values = m.Unit, append(values, m.Value)
			}
		}
	}
	return columnScale(unit, values...)
}
