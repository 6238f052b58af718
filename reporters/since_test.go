package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// Where the previous session is the baseline, an assertion on the baseline does not say the same change twice.
func TestLastTimeIsNotTheBaselineAgain(t *testing.T) {
	change := &results.Since{
		Case: "c", Metric: "bandwidth", Unit: "GB/s",
		Base: results.Observed{Value: 10, Unit: "GB/s"}, Change: results.Change{Value: 0.8},
	}
	of := func(baseline bool) finding {
		bandwidth := &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}
		subject := bandwidth
		if baseline {
			other := *bandwidth
			other.Baseline = true
			subject = &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{bandwidth, &other}}
		}
		return finding{
			of:        &results.Case{Key: "c"},
			assertion: &results.AssertionVerdict{Assertion: assertion.Assertion{Subject: subject}},
		}
	}
	for _, c := range []struct {
		name      string
		baseline  string // its session
		compares  bool
		told      bool
		describes string // the previous session
	}{
		{"the baseline, compared with", "one", true, false, "ended as passed and is the baseline"},
		{"the baseline, not compared with", "one", false, true, "ended as passed and is the baseline"},
		{"another session", "two", true, true, "ended as passed"},
	} {
		doc := &results.Document{
			Previous: &results.Previous{Session: "one", Status: "passed", Since: []*results.Since{change}},
			Baseline: &results.Baseline{Session: c.baseline},
		}
		if got := lastTime(doc, sinces(doc), of(c.compares)); len(got) > 0 != c.told {
			t.Errorf("%s: %q", c.name, got)
		}
		if got := sinceLast(doc)[0]; !strings.HasSuffix(got, c.describes) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// All asserted metrics are counted, also those that were not compared.
func TestSinceCountsWhatIsNotCompared(t *testing.T) {
	q := 0.001
	same := &results.Since{Case: "c", Metric: "bandwidth", Change: results.Change{Value: 1}}
	alone := &results.Since{Case: "c", Metric: "latency", Change: results.Change{Value: 0.9, Assumes: true, Q: &q}}
	not := func(reasons ...string) (out []results.NotCompared) {
		for _, r := range reasons {
			out = append(out, results.NotCompared{Case: "d", Metric: "bandwidth", Reason: r})
		}
		return out
	}
	const edited, added = "env BASE differs", "not measured in the earlier session"
	for want, p := range map[string]*results.Previous{
		"no asserted metric has launches in both that can be compared": {},
		"of 1 asserted metric, 0 changed by more than noise":           {Since: []*results.Since{same}},
		"of 3 asserted metrics, 0 changed by more than noise; 2 not compared: env BASE differs": {
			Since: []*results.Since{same}, NotCompared: not(edited, edited)},
		"of 2 asserted metrics, 0 changed by more than noise; 1 more would have if sessions did not differ": {
			Since: []*results.Since{same, alone}},
		"of 5 asserted metrics, 0 changed by more than noise; 2 not compared: env BASE differs; 1 not compared: " +
			"not measured in the earlier session; 1 not compared for other reasons": {
			Since: []*results.Since{same}, NotCompared: not(added, edited, "option a differs", edited)},
	} {
		if got := sinceLast(&results.Document{Previous: p})[1]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
