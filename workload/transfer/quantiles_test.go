package transfer

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
	"math"
	"testing"
)

// The p99 of 60 requests is the longest; versions without a definition took the second longest.
func TestQuantilesOfRequests(t *testing.T) {
	s := &results.Samples{
		Rank: 0, Ops: 60, Bytes: 60, Start: 0, End: 1000, Counts: map[int]int64{100: 58, 200: 1, 300: 1},
	}
	ranks := []*move.Part{{Initiator: true, Samples: s}}
	m, err := Metrics(transferCase(), ranks)
	if err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, m, map[string]float64{
		"latency.p50": 100e-9, "latency.p95": 100e-9, "latency.p99": 300e-9, "latency.p999": 300e-9,
	})
	wantMetrics(t, RoundedQuantiles([]*results.Samples{s}), map[string]float64{
		"latency.p50": 100e-9, "latency.p99": 200e-9, "latency.p999": 300e-9,
	})
}

func wantMetrics(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, w := range want {
		if v, ok := got[name]; !ok || math.Abs(v-w) > 1e-9*max(math.Abs(w), 1e-9) {
			t.Errorf("%s = %v (%v), want %v", name, v, ok, w)
		}
	}
}
