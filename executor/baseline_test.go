package executor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// heldAgainst gives a case an assertion that mentions the baseline.
func heldAgainst(c *planner.Case) {
	metric := func(baseline bool, key string) *assertion.Expr {
		return &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Baseline: baseline, Case: key}
	}
	c.Assertions = []assertion.Assertion{{
		Name: "no slower", Text: "bandwidth >= 0.9 * baseline.bandwidth", Severity: assertion.Gate,
		Subject: &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{metric(false, ""), metric(true, c.Key)}},
	}}
}

func TestBaselineIsCopiedAsFarAsItIsMentioned(t *testing.T) {
	ok := func(v float64) *results.Launch {
		return &results.Launch{Status: results.OK, Metrics: results.ValuesOf(map[string]float64{"bandwidth": v})}
	}
	bad, again := ok(9), ok(8)
	bad.Status, again.Retried = results.Error, true
	former := &results.Document{
		Session:     results.Session{ID: "former"},
		Environment: results.Environment{Fingerprint: "sha256:x"},
		Cases: []*results.Case{
			{Key: "a", Status: results.OK, Launches: []*results.Launch{again, ok(1), bad, ok(2)}},
			{Key: "broken", Status: results.Error, Launches: []*results.Launch{ok(1), bad}},
			{Key: "unmentioned", Status: results.OK, Launches: []*results.Launch{ok(3)}},
		},
	}
	b := newBench(t)
	doc := b.run(onePlan(aCase("a", heldAgainst), aCase("lacking", heldAgainst), aCase("broken", heldAgainst),
		aCase("unmentioned")), func(o *Options) {
		o.Baseline, o.BaselineFile = former, "former.json"
	})
	want := &results.Baseline{Session: "former", File: "former.json", Fingerprint: "sha256:x",
		Cases: []results.BaselineCase{
			{
				Key: "a", Launches: []results.MetricValues{
					results.ValuesOf(map[string]float64{"bandwidth": 1}),
					results.ValuesOf(map[string]float64{"bandwidth": 2}),
				},
			},
		}}
	differ := doc.Baseline.Differences
	doc.Baseline.Differences = nil
	if diff := cmp.Diff(want, doc.Baseline, cmp.AllowUnexported(results.Named[float64]{})); diff != "" {
		t.Error(diff)
	}
	if want := (results.Difference{What: "fingerprint", Base: "sha256:x",
		New: doc.Environment.Fingerprint}); len(differ) == 0 || !cmp.Equal(differ[0], want) {
		t.Errorf("the environments differ in %v, want first %v", differ, want)
	}
	if i := slices.IndexFunc(differ, func(d results.Difference) bool { return d.What == "nodes" }); i < 0 ||
		differ[i].Base != "0" {
		t.Errorf("the baseline had no node: %v", differ)
	}
}
