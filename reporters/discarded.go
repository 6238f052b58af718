package reporters

import (
	"slices"

	"github.com/weir-bench/weir/results"
)

// discardedMark follows the verdict of a case without a usable launch.
func discardedMark(c *results.Case) string {
	if c.Status == results.OK && c.AllDiscarded() {
		return " (discarded)"
	}
	return ""
}

// usesDiscarded reports whether a verdict was reached with discarded launches, as no disturbance can have caused it.
func usesDiscarded(a *results.AssertionVerdict) bool {
	return slices.ContainsFunc(a.Reasons, func(r results.Reason) bool {
		return r.Kind == results.DiscardedPass || r.Kind == results.DiscardedFail
	})
}

// discardedReason says why a case has no usable launch, if no inconclusive assertion does.
func discardedReason(c *results.Case) string {
	why := c.Unmeasured()
	for _, a := range c.Assertions {
		if a.Standing() == string(results.InconclusiveVerdict) {
			return ""
		}
	}
	return plain(why)
}

// discardedMedian is the median of a metric over the discarded launches of a case without a usable one.
func discardedMedian(c *results.Case, metric string) (float64, bool) {
	if !c.AllDiscarded() {
		return 0, false
	}
	var values []float64
	for _, l := range c.Launches {
		if v, ok := l.Metrics.Get(metric); ok && l.Discarded != "" {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2, true
}
