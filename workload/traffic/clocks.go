package traffic

import (
	"weir/results"
	"weir/workload"
)

// AcrossHosts is the pattern, which begins at one rank and ends at another.
func AcrossHosts(m results.MetricValues) workload.Span {
	return workload.Span{Of: "the pattern", Took: m.At("latency.p50"), Bound: m.At("clock.bound")}
}

// Starts are of the median iteration: a late start now and then is in the latencies.
func Starts(m results.MetricValues) (apart, took float64, ok bool) {
	apart, ok = m.Get("skew.p50")
	took, known := m.Get("latency.p50")
	return apart, took, ok && known
}
