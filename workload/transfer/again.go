package transfer

import (
	"cmp"
	"slices"
	"strings"

	"weir/results"
	"weir/workload/move"
)

// RoundedQuantiles computes, from the raw samples of a transfer's initiators, the
// quantiles of latencies as versions did whose documents do not say how.
func RoundedQuantiles(samples []*results.Samples) map[string]float64 {
	counts := map[int]int64{}
	for _, s := range samples {
		for i, n := range s.Counts {
			counts[i] += n
		}
	}
	h, out := results.NewLatencies(counts), map[string]float64{}
	for name, q := range latencyQuantiles {
		out[name] = float64(h.RoundedQuantile(q)) * 1e-9
	}
	return out
}

// FromSamples computes again, from the raw samples of a transfer's initiators, the
// metrics that follow from these alone: bandwidths, rates, latencies and when the timed
// parts began. What ranks tell once, of preparing, clocks, processors and ceilings,
// stands in no samples file, nor do the times of a rank's threads or those of the
// iterations of a matrix.
func FromSamples(o move.Spec, samples []*results.Samples) (map[string]float64, error) {
	samples = slices.SortedFunc(slices.Values(samples),
		func(a, b *results.Samples) int { return cmp.Compare(a.Rank, b.Rank) })
	ranks := make([]*move.Part, len(samples))
	for i, s := range samples {
		ranks[i] = &move.Part{Rank: s.Rank, Initiator: true, Samples: s}
	}
	all, err := Metrics(o, ranks)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for name, v := range all {
		switch whole := o.Threads <= 1; {
		case name == "requests", name == "requests.stamped", name == "bandwidth.min_rank",
			strings.HasPrefix(name, "latency.") && name != "latency.avg":
			out[name] = v
		case name == "latency.avg" && (whole || o.Mode != "pingpong"),
			whole && slices.Contains([]string{"bandwidth", "message_rate", "overlap", "skew", "skew.end"}, name):
			out[name] = v
		}
	}
	return out, nil
}
