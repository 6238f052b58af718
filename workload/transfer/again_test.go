package transfer

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// Metrics from samples equal those from ranks, in any order of the files.
func TestMetricsFollowFromSamples(t *testing.T) {
	samples := func(rank int, start, end int64) *results.Samples {
		return &results.Samples{
			Rank: rank, Ops: 100, Bytes: 100 << 16, Start: start, End: end, Every: 1,
			Counts:   map[int]int64{500: 60, 700 + rank: 40},
			Progress: []results.Progress{{Time: start + 1000, Bytes: 10 << 16}, {Time: end - 1000, Bytes: 90 << 16}},
		}
	}
	for name, test := range map[string]struct {
		o       move.Spec
		without []string // that samples would say, but for threads or the mode
	}{
		"stream":   {move.Spec{BlockSize: 1 << 16, Batch: 1, Threads: 1, Mode: "stream"}, nil},
		"pingpong": {move.Spec{BlockSize: 1 << 16, Batch: 1, Threads: 1, Mode: "pingpong"}, nil},
		"threads": {move.Spec{BlockSize: 1 << 16, Batch: 1, Threads: 2, Mode: "stream"},
			[]string{"bandwidth", "message_rate", "overlap", "skew", "skew.end"}},
		"threads, pingpong": {move.Spec{BlockSize: 1 << 16, Batch: 1, Threads: 2, Mode: "pingpong"}, []string{
			"bandwidth", "message_rate", "overlap", "skew", "skew.end", "latency.avg",
		}},
	} {
		a, b := samples(0, 1000, 101000), samples(1, 3000, 90000)
		ranks := []*move.Part{
			{Rank: 0, Initiator: true, Samples: a, Ceiling: 1e9, Prep: move.Prep{Alloc: 1}},
			{Rank: 1, Initiator: true, Samples: b, Usage: move.Usage{CPU: 3}}, {Rank: 2}, {Rank: 3},
		}
		want, err := Metrics(test.o, ranks)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromSamples(test.o, []*results.Samples{b, a})
		if err != nil {
			t.Fatal(err)
		}
		for metric, v := range got {
			if v != want[metric] {
				t.Errorf("%s: %s is %v, and was %v", name, metric, v, want[metric])
			}
		}
		for _, metric := range []string{
			"bandwidth", "bandwidth.min_rank", "message_rate", "requests", "requests.stamped", "overlap", "skew",
			"skew.end", "latency.avg", "latency.min", "latency.p50", "latency.p999", "latency.max",
		} {
			if _, has := got[metric]; has == slices.Contains(test.without, metric) {
				t.Errorf("%s: has %s: %v", name, metric, has)
			}
		}
		for _, metric := range []string{"prep.alloc", "ceiling", "cpu_time_per_gb", "clock.cost", "post.avg"} {
			if _, has := got[metric]; has {
				t.Errorf("%s: %s does not follow from samples", name, metric)
			}
		}
	}
	if _, err := FromSamples(move.Spec{BlockSize: 1, Batch: 1}, nil); err == nil {
		t.Error("no samples make metrics")
	}
}
