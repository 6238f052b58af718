package ledger

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// comparing is a plan that compares case "a" with the baseline, and a document of it with launches.
func comparing(launches ...*results.Launch) (*planner.Plan, *results.Document) {
	metric := &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Baseline: true, Case: "a"}
	p := &planner.Plan{Cases: []*planner.Case{{
		Key: "a", Status: planner.Planned, Assertions: []assertion.Assertion{{Text: "x", Subject: metric}},
	}}}
	return p, &results.Document{Cases: []*results.Case{{Key: "a", Status: results.OK, Launches: launches}}}
}

// A baseline of disturbed launches alone could never be compared with, so it is neither recorded nor kept.
func TestABaselineHasUsableLaunches(t *testing.T) {
	quiet := &results.Launch{Status: results.OK}
	noisy := &results.Launch{Status: results.OK, Disturbance: &results.Disturbance{Text: "busy", Tolerated: true}}
	for _, test := range []struct {
		launches []*results.Launch
		want     string
	}{
		{[]*results.Launch{quiet, noisy}, ""},
		{[]*results.Launch{noisy, noisy}, "all launches of a were disturbed"},
	} {
		p, doc := comparing(test.launches...)
		if got := Unrecordable(p, doc); got != test.want {
			t.Errorf("unrecordable: %q, want %q", got, test.want)
		}
		doc.Baseline = &results.Baseline{Cases: []results.BaselineCase{baselineCase(doc.Cases[0])}}
		got := Unusable(p, doc)
		if (got != "") != (test.want != "") || got != "" && !strings.HasSuffix(got, "launch of a") {
			t.Errorf("unusable: %q", got)
		}
	}
	p, doc := comparing(quiet)
	doc.Baseline = &results.Baseline{}
	if got := Unusable(p, doc); got != "the one before lacks the case a" {
		t.Errorf("unusable: %q", got)
	}
}
