package traffic

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Clocks implements workload.HostSpanner and workload.Starter for matrices.
type Clocks struct{}

// AcrossHosts returns the time of a pattern, which starts at one rank and ends at another.
func (Clocks) AcrossHosts(m results.MetricValues) workload.Span {
	return workload.Span{Of: "the pattern", Took: m.At("latency.p50"), Bound: m.At("clock.bound")}
}

// Starts returns the skew of the median iteration: occasional late starts show in latencies.
func (Clocks) Starts(m results.MetricValues) (apart, took float64, ok bool) {
	apart, ok = m.Get("skew.p50")
	took, known := m.Get("latency.p50")
	return apart, took, ok && known
}
