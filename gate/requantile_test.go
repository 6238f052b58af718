package gate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

// Numbers of launches with samples are those of the samples, the original stays, and what
// an earlier document said of these numbers is left out or named.
func TestRequantiled(t *testing.T) {
	launch := func(p99 float64) *results.Launch {
		return &results.Launch{
			Status: results.OK, Metrics: results.ValuesOf(map[string]float64{
				"latency.p99": p99, "latency.p95": 1, "post.p99": 2, "bandwidth": 3,
			}),
		}
	}
	doc := &results.Document{
		Cases: []*results.Case{
			{Key: "a", Workload: "transfer", Status: results.OK, Launches: []*results.Launch{launch(4)}},
			{Key: "b", Workload: "transfer", Status: results.OK, Launches: []*results.Launch{launch(4)}},
			{Key: "none", Workload: "transfer", Status: results.Skipped},
		},
		Baseline: &results.Baseline{},
		Previous: &results.Previous{
			Since: []*results.Since{
				{Case: "a", Metric: "latency.p99"}, {Case: "b", Metric: "latency.p99"},
				{Case: "a", Metric: "bandwidth"},
			},
		},
	}
	Judge(doc)
	out := Requantiled(doc, map[*results.Launch]map[string]float64{
		doc.Cases[0].Launches[0]: {"latency.p99": 6, "latency.p95": 1},
		doc.Cases[1].Launches[0]: {"latency.p99": 4, "latency.p95": 1},
	})
	want := &results.Quantiles{
		Definition: results.NearestRankRule, Older: []string{"post.p99"},
		Recomputed: []results.Recomputed{{Case: "a", Metric: "latency.p99", Unit: "s", Was: 4, Is: 6}},
	}
	if diff := cmp.Diff(want, out.Quantiles); diff != "" {
		t.Error(diff)
	}
	if now, was := out.Cases[0].Launches[0].Metrics.At("latency.p99"),
		doc.Cases[0].Launches[0].Metrics.At("latency.p99"); now != 6 || was != 4 || doc.Quantiles != nil {
		t.Errorf("the launch has %v and the original's %v", now, was)
	}
	if was := doc.Cases[0].Metrics.At("latency.p99").Value; was != 4 {
		t.Errorf("the original's estimate is %v", was)
	}
	if len(out.Previous.Since) != 2 || len(doc.Previous.Since) != 3 || len(out.Previous.NotCompared) != 1 {
		t.Errorf("%d changes since the last session, of %d", len(out.Previous.Since), len(doc.Previous.Since))
	}
	if d := out.Baseline.Differences; len(d) != 1 || d[0].What != "definition of latency.p95, latency.p99" ||
		len(doc.Baseline.Differences) != 0 {
		t.Errorf("the baseline differs in %+v", d)
	}
}
