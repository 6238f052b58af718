package reporters

import (
	"errors"
	"math"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// band returns the bounds of a metric by the assertions of a case, with other metrics as measured: for
// bandwidth >= 0.2 * ceiling.bandwidth a fifth of the ceiling. Only for subjects proportional to the
// metric or its inverse.
func (d *draft) band(c *results.Case, metric string) (lower, upper *float64) {
	for _, a := range c.Assertions {
		if a.Subject == nil || a.Severity == assertion.Info || !alone(a.Subject) ||
			!slices.Contains(d.judged(a), metric) {
			continue
		}
		low, high, ok := solve(c, a, metric)
		if !ok {
			continue
		}
		if low != nil && (lower == nil || *low > *lower) {
			lower = low
		}
		if high != nil && (upper == nil || *high < *upper) {
			upper = high
		}
	}
	return lower, upper
}

var errNotMeasured = errors.New("not measured")

// solve converts the bounds of an assertion to the metric: it evaluates the subject at once, twice and
// four times the measured value.
func solve(c *results.Case, a *results.AssertionVerdict, metric string) (low, high *float64, ok bool) {
	at := func(times float64) float64 {
		v, err := a.Subject.EvalWith(func(leaf *assertion.Expr) (float64, error) {
			m, ok := c.Metrics.Get(leaf.Metric)
			if !ok {
				return 0, errNotMeasured
			}
			if leaf.Metric == metric {
				return m.Value * times, nil
			}
			return m.Value, nil
		}, a.Unit)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	value, twice, four := at(1), at(2), at(4)
	is := func(v, want float64) bool { return math.Abs(v/value-want) < 1e-9 }
	if !(value > 0) {
		return nil, nil, false
	}
	low, high = a.Bounds.Lower, a.Bounds.Upper
	measured := c.Metrics.At(metric).Value
	move := func(bound *float64, factor func(float64) float64) *float64 {
		if bound == nil || *bound <= 0 {
			return nil
		}
		v := quantity.Round(measured * factor(*bound))
		if !drawable(v) {
			return nil
		}
		return &v
	}
	switch {
	case is(twice, 2) && is(four, 4):
		times := func(b float64) float64 { return b / value }
		return move(low, times), move(high, times), true
	case is(twice, 0.5) && is(four, 0.25):
		times := func(b float64) float64 { return value / b }
		return move(high, times), move(low, times), true
	}
	return nil, nil, false
}
