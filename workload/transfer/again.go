package transfer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// RoundedQuantiles computes the latency quantiles from the samples of a transfer's initiators, rounded as in older
// documents (results.RoundedRankRule).
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

// FromSamples computes the metrics that follow from the samples of a transfer's initiators alone: bandwidths, rates,
// latencies and skews. Samples lack preparation times, clocks, CPU use, ceilings, and the times of single threads.
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
		switch single := o.Threads <= 1; {
		case name == "requests", name == "requests.stamped", name == "bandwidth.min_rank",
			strings.HasPrefix(name, "latency.") && name != "latency.avg":
			out[name] = v
		case name == "latency.avg" && (single || o.Mode != "pingpong"),
			single && slices.Contains([]string{"bandwidth", "message_rate", "overlap", "skew", "skew.end"}, name):
			out[name] = v
		}
	}
	return out, nil
}
