package transfer

import (
	"weir/results"
	"weir/workload"
)

// acrossHosts is the part of a transfer in which all of its initiators move. A transfer of one
// initiator, which has no skew, is timed by its own clock.
func acrossHosts(m results.MetricValues) workload.Span {
	rate := m.At("message_rate")
	if m.At("skew") <= 0 || rate <= 0 {
		return workload.Span{}
	}
	return workload.Span{Of: "the timed part", Took: m.At("requests") / rate, Bound: m.At("clock.bound")}
}
