package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// The head of a page names the baseline and the previous session.
func TestAgainstText(t *testing.T) {
	base := &results.Baseline{File: "base.json", Session: "s1", Fingerprint: "f"}
	before := &results.Previous{Session: "s2", Status: "passed"}
	same := &results.Previous{Session: "s1", Status: "passed"}
	here := results.Environment{Fingerprint: "f"}
	for _, c := range []struct {
		doc  results.Document
		want string
	}{
		{results.Document{}, ""},
		{results.Document{Baseline: base, Environment: here}, "against the baseline base.json (session s1)"},
		{results.Document{Baseline: base}, "against the baseline base.json (session s1), of another environment"},
		{results.Document{Previous: before}, "previous session: s2 (passed)"},
		{
			results.Document{Baseline: base, Previous: same, Environment: here},
			"against the baseline and previous session base.json (session s1)",
		},
		{
			results.Document{Baseline: base, Previous: before, Environment: here},
			"against the baseline base.json (session s1); previous session: s2 (passed)",
		},
	} {
		if got := againstText(&c.doc); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The ceiling of a waiver is told where its reason and its last day are.
func TestWaiverText(t *testing.T) {
	doc := read(t, "passed")
	doc.Cases[0].Assertions = []*results.AssertionVerdict{{
		Verdict: results.XFail, Assertion: assertion.Assertion{
			Text:  "bandwidth >= 26 GB/s",
			XFail: &assertion.XFail{Reason: "slow NIC", Until: "2099-01-31", Ceiling: 0.6},
		},
	}}
	var b strings.Builder
	if err := HTML(&b, doc); err != nil {
		t.Fatal(err)
	}
	const want = "a miss is accepted up to 60% beyond the bound"
	if n := strings.Count(b.String(), want); n != 2 { // of the finding and of the list of what holds
		t.Errorf("%d times %q", n, want)
	}
}
