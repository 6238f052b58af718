package gate

import (
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// maxClockShare is the largest clock uncertainty, as a share of the measured duration, up to which a
// duration between hosts is usable.
const maxClockShare = 0.1

// clocksUnsynchronised returns a reason if the clocks of a case's hosts, or of the GPUs of one host, could
// not be compared precisely enough for its workload.
func clocksUnsynchronised(k *workload.Kind, launches []*results.Launch) results.Reason {
	b, ok := k.Behaviour.(workload.HostSpanner)
	if !ok {
		return results.Reason{}
	}
	var bounds, spans []float64
	what := ""
	for _, l := range launches {
		if span := b.AcrossHosts(l.Metrics); span.Took > 0 {
			bounds, spans, what = append(bounds, span.Bound), append(spans, span.Took), span.Of
		}
	}
	if len(bounds) == 0 {
		return results.Reason{}
	}
	bound, span := median(bounds), median(spans)
	if bound <= maxClockShare*span {
		return results.Reason{}
	}
	kind := results.ClocksOfHosts
	if slices.ContainsFunc(launches, clocksOfGPUs) {
		kind = results.ClocksOfGPUs
	}
	return results.Because(kind, results.Number("bound", bound, "s"), results.Text("what", what),
		results.Number("span", span, "s"))
}

// clocksOfGPUs reports whether the compared clocks are those of GPUs of one host.
func clocksOfGPUs(l *results.Launch) bool {
	return len(l.GPUs) > 0 && len(slices.Compact(slices.Sorted(slices.Values(l.Nodes)))) == 1
}

// An iteration of traffic involves all ranks at once. Ranks that share cores may start late. A skew of up
// to skewTime is normal; beyond skewShare of the iteration another pattern was measured.
const (
	skewTime  = 100e-6 // seconds
	skewShare = 0.5
)

// startSkew returns a reason if the ranks of a case did not start together in the median iteration of the
// median launch. (Occasional late starts are part of the latencies.) Such a case may pass, but a miss says
// nothing about the path.
func startSkew(c *results.Case) results.Reason {
	if c == nil {
		return results.Reason{}
	}
	b, ok := workload.As[workload.Starter](c.Workload)
	if !ok {
		return results.Reason{}
	}
	var skews, latencies []float64
	for _, l := range usable(c) {
		if skew, latency, ok := b.Starts(l.Metrics); ok {
			skews, latencies = append(skews, skew), append(latencies, latency)
		}
	}
	if len(skews) == 0 {
		return results.Reason{}
	}
	skew, latency := median(skews), median(latencies)
	if skew <= skewTime || skew <= skewShare*latency {
		return results.Reason{}
	}
	return results.Because(results.LateStarts, results.Number("apart", skew, "s"),
		results.Number("took", latency, "s"))
}
