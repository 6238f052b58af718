package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// The published sample is written as NIXL EP's README has it.
func TestNIXLEPLines(t *testing.T) {
	estimate := func(unit string, v float64) results.MetricEstimate {
		return results.MetricEstimate{Unit: unit, N: 1, Value: v, Median: v, Mean: v}
	}
	doc := &results.Document{Session: results.Session{Status: results.Passed}, Cases: []*results.Case{
		{
			Key: "dfw[mode=e2e]", Run: "dfw", Workload: "ep", Status: results.OK, Axes: map[string]any{"mode": "e2e"},
			AxisOrder: []string{"mode"},
			Options: map[string]any{
				"ranks": 8., "tokens": 128., "hidden": 7168., "top_k": 8., "experts_per_rank": 36., "fabric": "ucx",
				"warmup": 10., "iterations": 100.,
			},
			Metrics: results.NamedOf(map[string]results.MetricEstimate{
				"bandwidth": estimate("GB/s", 42.88), "bandwidth.min_rank": estimate("GB/s", 42.86),
				"bandwidth.max_rank": estimate("GB/s", 42.89),
				"latency.avg":        estimate("s", 519.3e-6), "latency.min": estimate("s", 519.1e-6),
				"latency.max": estimate("s", 519.5e-6), "ranks_passed": estimate("", 8),
			}),
		},
		{
			Key: "dead", Run: "dfw", Workload: "ep", Status: results.Error, Reason: "rank 1 died",
			Options: map[string]any{"ranks": 8., "mode": "dispatch"},
		},
		{
			Key: "control", Run: "control", Workload: "ep_control", Status: results.OK,
			Options: map[string]any{"ranks": 8., "experts_per_rank": 8., "operation": "connect"},
			Metrics: results.NamedOf(map[string]results.MetricEstimate{
				"connect.avg": estimate("s", 0.24567), "connect.min": estimate("s", 0.24233),
				"connect.max": estimate("s", 0.24891),
			}),
		},
		{Key: "t", Run: "t", Workload: "transfer", Status: results.OK},
	}}
	got := written(t, "nixl-ep", doc)
	for _, want := range []string{
		"Mode: e2e\nRanks: 8, Tokens: 128, Hidden: 7168\nExperts: 36/rank (288 total), TopK: 8\nBackend: ucx\nWarmup: 10, Measure: 100 iterations\n" +
			strings.Repeat("=", 70),
		"Data Plane (e2e): 8/8 ranks passed\n" + strings.Repeat("=", 70) +
			"\nBandwidth (GB/s): avg=42.88, min=42.86, max=42.89\nLatency (μs):     avg=519.3, min=519.1, max=519.5\n",
		"Data Plane (dispatch): -/8 ranks passed\n" + strings.Repeat("=", 70) +
			"\nBandwidth (GB/s): avg=-, min=-, max=-\nLatency (μs):     avg=-, min=-, max=-\n", "rank 1 died",
		"CONNECT: 245.67ms avg across 8 ranks (min=242.33ms, max=248.91ms) [8 experts/rank]",
		"1 case of other workloads not shown",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// What was not measured is "-" and not a number, and ranks are counted one by one.
func TestNIXLEPOfWhatWasNotMeasured(t *testing.T) {
	passed := func(n float64) results.MetricValues {
		return results.MetricValues{Named: results.NamedOf(map[string]float64{"ranks_passed": n})}
	}
	ok := func(n float64, void string) *results.Launch {
		return &results.Launch{Status: results.OK, Fabric: "shm", Metrics: passed(n), Discarded: void}
	}
	killed := func(finished int, retried bool) *results.Launch {
		return &results.Launch{Status: results.Error, Fabric: "shm", Finished: finished, Retried: retried,
			Failure: &results.Failure{Rank: 1, Cause: "killed"}}
	}
	for want, launches := range map[string][]*results.Launch{
		"3/4": {killed(3, false)}, "-/4": {killed(0, false)}, "2/4": {ok(4, ""), killed(2, false)},
		"4/4": {ok(4, ""), killed(0, true), ok(4, "the host was busy")},
	} {
		doc := &results.Document{Session: results.Session{Status: results.Error}, Cases: []*results.Case{
			{Key: "c", Run: "c", Workload: "ep", Status: results.Error, Reason: "r", Launches: launches,
				Options: map[string]any{"ranks": 4., "mode": "e2e", "fabric": "auto"}},
			{Key: "x", Run: "x", Workload: "ep_control", Status: results.Error, Reason: "r",
				Options: map[string]any{"ranks": 4., "experts_per_rank": 8., "operation": "cycle"}},
			{Key: "y", Run: "y", Workload: "ep_control", Status: results.Error, Reason: "r",
				Options: map[string]any{"ranks": 4., "experts_per_rank": 8., "operation": "connect"}},
			{Key: "e", Run: "e", Workload: "ep_elastic", Status: results.Error, Options: map[string]any{"phase": 2.}},
		}}
		got := written(t, "nixl-ep", doc)
		for _, line := range []string{
			"Data Plane (e2e): " + want + " ranks passed", "Backend: shm\n", "TOTAL           -\n",
			"init            -            -            -\n", "CONNECT: - avg across 4 ranks (min=-, max=-)",
			"Elastic (phase 2): - ranks, - joined", "Wrong tokens: -",
		} {
			if !strings.Contains(got, line) {
				t.Errorf("no %q in\n%s", line, got)
			}
		}
		if strings.Contains(got, "0.00") || strings.Contains(got, "no such test") {
			t.Errorf("%s", got)
		}
	}
}
