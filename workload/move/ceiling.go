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

// Carries is what the path was found to carry at its best, where bounded is the metric whose
// share of the ceiling the workload has.
func Carries(bounded string) func(metric string, m results.MetricValues) (most float64, ok bool) {
	return func(metric string, m results.MetricValues) (most float64, ok bool) {
		share, probed := OfCeiling(m)
		value, measured := m.Get(metric)
		if metric != bounded || !probed || !measured || share <= 0 {
			return 0, false
		}
		return value / share, true
	}
}
