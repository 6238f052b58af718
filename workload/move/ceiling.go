package move

import (
	"strings"

	"github.com/weir-bench/weir/results"
)

// Path implements workload.PathUser. Bounded is the metric that the ceiling bounds.
type Path struct{ Bounded string }

// OfCeiling returns the share of the probed ceiling that a launch reached: of the best probed span if known, because a
// busy host may disturb most of a probe of milliseconds.
func (Path) OfCeiling(m results.MetricValues) (share float64, ok bool) {
	if share, ok = m.Get("ceiling.best"); ok {
		return share, ok
	}
	return m.Get("ceiling")
}

// Probe implements workload.PathUser.
func (p Path) Probe(m results.MetricValues) (rate float64, ok bool) { return p.Carries(p.Bounded, m) }

// Probed implements workload.PathUser.
func (Path) Probed(metric string) bool {
	return metric == "ceiling" || strings.HasPrefix(metric, "ceiling.")
}

// Carries returns the best probed rate of the path, for the metric that it bounds.
func (p Path) Carries(metric string, m results.MetricValues) (most float64, ok bool) {
	share, probed := p.OfCeiling(m)
	value, measured := m.Get(metric)
	if metric != p.Bounded || !probed || !measured || share <= 0 {
		return 0, false
	}
	return value / share, true
}
