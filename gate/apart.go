package gate

import (
	"fmt"
	"slices"

	"weir/results"
	"weir/workload"
)

// unsynchronised is the share of the time that something takes beyond which what is not
// known of the hosts' clocks spoils it: its start and its end are of different hosts.
const unsynchronised = 0.1

// clocksApart says whether the clocks of the hosts of a case of this workload, or of the GPUs of one
// host, could not be compared well enough for what was measured with them.
func clocksApart(k *workload.Kind, launches []*results.Launch) string {
	if k.AcrossHosts == nil {
		return ""
	}
	var bounds, spans []float64
	what := ""
	for _, l := range launches {
		if span := k.AcrossHosts(l.Metrics); span.Took > 0 {
			bounds, spans, what = append(bounds, span.Bound), append(spans, span.Took), span.Of
		}
	}
	if len(bounds) == 0 {
		return ""
	}
	bound, span := median(bounds), median(spans)
	if bound <= unsynchronised*span {
		return ""
	}
	whose, remedy := "hosts", "move more, or compare hosts with a quicker path between them"
	if slices.ContainsFunc(launches, ofGPUs) {
		whose, remedy = "GPUs", "move more in it"
	}
	return fmt.Sprintf("the clocks of its %s are known to each other to %s only, and %s takes %s: %s", whose,
		seconds(bound), what, seconds(span), remedy)
}

// ofGPUs says whether clocks that were compared are those of the GPUs of one host.
func ofGPUs(l *results.Launch) bool {
	return len(l.GPUs) > 0 && len(slices.Compact(slices.Sorted(slices.Values(l.Nodes)))) == 1
}

// seconds is a time for a person.
func seconds(v float64) string {
	s := results.ScaleFor(v, "s")
	value, _, _ := s.Estimate(v, nil)
	return s.WithUnit(value)
}

// An iteration of traffic is a question to all of its ranks at a time. Where ranks share
// cores some start late; up to apartTime that is what a common start costs anywhere,
// and beyond apartShare of the time that it takes it was another pattern.
const (
	apartTime  = 100e-6 // seconds
	apartShare = 0.5
)

// apart says whether the ranks of a case did not start together, in the median
// iteration of the median launch: a late start now and then is in the latencies. What
// such a case reaches it has reached all the same, but where it falls short that says
// nothing of the path.
func apart(c *results.Case) string {
	if c == nil || kindOf(c).Starts == nil {
		return ""
	}
	var skews, latencies []float64
	for _, l := range counting(c) {
		if skew, latency, ok := kindOf(c).Starts(l.Metrics); ok {
			skews, latencies = append(skews, skew), append(latencies, latency)
		}
	}
	if len(skews) == 0 {
		return ""
	}
	skew, latency := median(skews), median(latencies)
	if skew <= apartTime || skew <= apartShare*latency {
		return ""
	}
	return fmt.Sprintf("its ranks did not start together: in the median iteration the last of them %s after the first, of %s that it took; they share cores",
		seconds(skew), seconds(latency))
}
