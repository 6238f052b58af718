package move

import "weir/results"

// OfCeiling is the share of the probed ceiling that a launch reached: of the best that the
// probe saw where that is known, because a busy host may spoil most of a probe that takes
// milliseconds.
func OfCeiling(m results.MetricValues) (share float64, ok bool) {
	if share, ok = m.Get("ceiling.best"); ok {
		return share, ok
	}
	return m.Get("ceiling")
}
