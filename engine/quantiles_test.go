package engine

import (
	"slices"
	"strings"
	"testing"

	"weir/results"
	"weir/workload"
)

// Documents without a definition of quantiles are known by the metrics of transfers that
// are percentiles: all of them but medians, which are the same by both definitions.
func TestOlderDocumentsAreDefinedDifferently(t *testing.T) {
	older := &results.Document{}
	for _, k := range workload.Kinds() {
		for _, m := range k.Metrics {
			percentile := slices.Contains([]string{"p90", "p95", "p99", "p999"}, m.Name[strings.LastIndex(m.Name, ".")+1:])
			want := ""
			if percentile && k.Name == workload.Transfer.Name {
				want = results.RoundedRankRule
			}
			if got := older.DefinitionOf(k.Name, m.Name); got != want {
				t.Errorf("%s of %s is defined as %q, want %q", m.Name, k.Name, got, want)
			}
		}
	}
}

// The p99 of 60 requests is the longest; versions without a definition took the second longest.
func TestQuantilesOfRequests(t *testing.T) {
	s := &results.Samples{Rank: 0, Ops: 60, Bytes: 60, Start: 0, End: 1000, Counts: map[int]int64{100: 58, 200: 1, 300: 1}}
	ranks := []*CaseResult{{Initiator: true, Samples: s}}
	m, err := TransferMetrics(transferCase(), ranks)
	if err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, m, map[string]float64{"latency.p50": 100e-9, "latency.p95": 100e-9, "latency.p99": 300e-9, "latency.p999": 300e-9})
	wantMetrics(t, RoundedQuantiles([]*results.Samples{s}), map[string]float64{"latency.p50": 100e-9, "latency.p99": 200e-9, "latency.p999": 300e-9})
}
