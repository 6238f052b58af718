package transfer

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// AcrossHosts returns the common timed part of several initiators. A single initiator has no skew: its own clock times
// the transfer.
func (behaviour) AcrossHosts(m results.MetricValues) workload.Span {
	rate := m.At("message_rate")
	if m.At("skew") <= 0 || rate <= 0 {
		return workload.Span{}
	}
	return workload.Span{Of: "the timed part", Took: m.At("requests") / rate, Bound: m.At("clock.bound")}
}
