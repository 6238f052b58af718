package gate

import (
	"fmt"

	"weir/results"
)

// unsynchronised is the share of the time that a pattern takes beyond which what is not
// known of the hosts' clocks spoils it: its start and its end are of different hosts.
const unsynchronised = 0.1

// clocksApart says whether the clocks of a case's hosts could not be compared well
// enough for what was measured with them.
func clocksApart(launches []*results.Launch) string {
	var bounds, latencies []float64
	for _, l := range launches {
		_, isPattern := l.Metrics.Get("skew.p50")
		latency, known := l.Metrics.Get("latency.p50")
		if isPattern && known {
			bounds, latencies = append(bounds, l.Metrics.At("clock.bound")), append(latencies, latency)
		}
	}
	if len(bounds) == 0 {
		return ""
	}
	bound, latency := median(bounds), median(latencies)
	if bound <= unsynchronised*latency {
		return ""
	}
	return fmt.Sprintf("the clocks of its hosts are known to each other to %s only, and the pattern takes %s: move more, or compare hosts with a quicker path between them", seconds(bound), seconds(latency))
}

// seconds is a time for a person.
func seconds(v float64) string {
	s := results.ScaleFor(v, "s")
	value, _, _ := s.Estimate(v, nil)
	return s.WithUnit(value)
}

// A pattern of traffic is a question to all of its ranks at a time. Where ranks share
// cores some start late; up to apartTime that is what a common start costs anywhere,
// and beyond apartShare of the time that the pattern takes it was another pattern.
const (
	apartTime  = 100e-6 // seconds
	apartShare = 0.5
)

// apart says whether the ranks of a case did not start together, in the median
// iteration of the median launch: a late start now and then is in the latencies. What
// such a case reaches it has reached all the same, but where it falls short that says
// nothing of the path.
func apart(c *results.Case) string {
	if c == nil {
		return ""
	}
	var skews, latencies []float64
	for _, l := range counting(c) {
		skew, ok := l.Metrics.Get("skew.p50")
		latency, known := l.Metrics.Get("latency.p50")
		if ok && known {
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
	return fmt.Sprintf("its ranks did not start together: in the median iteration the last of them %s after the first, of %s that it took; they share cores", seconds(skew), seconds(latency))
}
