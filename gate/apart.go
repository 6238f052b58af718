package gate

import (
	"fmt"

	"weir/results"
)

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
		skew, ok := l.Metrics["skew.p50"]
		latency, known := l.Metrics["latency.p50"]
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
	of := func(v float64) string {
		s := results.ScaleFor(v, "s")
		value, _, _ := s.Estimate(v, nil)
		return s.WithUnit(value)
	}
	return fmt.Sprintf("its ranks did not start together: in the median iteration the last of them %s after the first, of %s that it took; they share cores", of(skew), of(latency))
}
