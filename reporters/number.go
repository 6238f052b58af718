package reporters

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
)

// All numbers of all reports are formatted here, on top of results.Scale: as
// many digits as their interval supports, none more. The interval of a metric of a
// case is that of its estimate in the document, and of nothing else.

// number is the estimate of a metric in a column of the scale's unit; "-" where
// there is none.
func number(c *results.Case, metric string, s results.Scale) string {
	m, ok := c.Metrics.Get(metric)
	if !ok {
		return "-"
	}
	if m.CV == 0 && m.Unit == "" && s.Factor == 1 && m.Median == math.Trunc(m.Median) && m.Median < 1e6 {
		return strconv.FormatFloat(m.Median, 'f', -1, 64) // a count, of which no digit is in doubt
	}
	v, _, _ := s.Estimate(m.Value, m.CI, boundsOf(c, m.Unit, metric)...)
	return v
}

// boundsOf are those that a metric of a case is held against by itself. Its interval has digits
// enough to lie on the sides of them on which it is, as in the messages.
func boundsOf(c *results.Case, unit, metric string) (bounds []*float64) {
	for _, a := range c.Assertions {
		if e := a.Subject; e != nil && e.Op == assertion.Metric && e.Metric == metric && e.Case == "" && !e.Baseline &&
			a.Unit == unit {
			bounds = append(bounds, a.Bounds.Lower, a.Bounds.Upper)
		}
	}
	return bounds
}

// sampled is number with the samples that a tail quantile is of behind it, in the launch that has
// fewest: "5.74 (188)".
func sampled(c *results.Case, m results.Metric, s results.Scale) string {
	text := number(c, m.Name, s)
	if e, ok := c.Metrics.Get(m.Name); ok && m.Tail() && e.Samples > 0 {
		text += fmt.Sprintf(" (%d)", e.Samples)
	}
	return text
}

// ofSamples is what heads of columns say of such numbers; "" of others.
func ofSamples(cases []*results.Case, m results.Metric) string {
	if m.Tail() && slices.ContainsFunc(cases, func(c *results.Case) bool {
		e, ok := c.Metrics.Get(m.Name)
		return ok && e.Samples > 0
	}) {
		return " (of)"
	}
	return ""
}

// interval is the confidence interval of a metric.
func interval(c *results.Case, metric string, s results.Scale) string {
	m, ok := c.Metrics.Get(metric)
	if !ok || m.CI == nil || results.Uninformative(m.CI) || quantity.Endless(m.Value) {
		return "-"
	}
	_, low, high := s.Estimate(m.Value, m.CI, boundsOf(c, m.Unit, metric)...)
	return low + "–" + high
}

// raw is a number for a machine: shortest form that reads back the same.
func raw(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// significantText is a number that others are judged by, to five digits.
func significantText(v float64) string { return quantity.Digits(v, 5) }

// cvText is a coefficient of variation, which nobody knows to more than two digits.
func cvText(cv float64) string { return results.Percent.WithUnit(quantity.Digits(cv*100, 2)) }

// columnScale is the unit of a column of values of any size: it is the same in all rows, so
// times are in µs, as in the tools whose output people compare, and amounts in MB.
func columnScale(unit string) results.Scale {
	switch unit {
	case "s":
		return results.Micro
	case "B":
		return results.Scale{Unit: "MB", Factor: 1e-6}
	}
	return results.Scale{Unit: unit, Factor: 1}
}

// scaleOfColumn is the unit of a column of metrics of one unit: times of which none is short are in
// ms or s.
func scaleOfColumn(cases []*results.Case, metrics ...string) results.Scale {
	unit, least := "", math.Inf(1)
	for _, c := range cases {
		for _, name := range metrics {
			m, ok := c.Metrics.Get(name)
			if ok {
				unit = m.Unit
			}
			if v := math.Abs(m.Value); ok && v > 0 {
				least = min(least, v)
			}
		}
	}
	switch {
	case unit != "s" || least < 10e-3 || math.IsInf(least, 0):
		return columnScale(unit)
	case least < 10:
		return results.Scale{Unit: "ms", Factor: 1e3}
	}
	return results.Scale{Unit: "s", Factor: 1}
}
