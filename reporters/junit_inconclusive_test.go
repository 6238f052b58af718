package reporters

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// undecidedSession is a judged session with an assertion that stays inconclusive, under a policy of the session and
// one of the assertion.
func undecidedSession(policy, own string, severity assertion.Severity) *results.Document {
	low := 40.
	a := &results.AssertionVerdict{Looks: []int{3}, Assertion: assertion.Assertion{
		Name: "bw", Text: "bandwidth >= 40 GB/s", Severity: severity, Unit: "GB/s",
		Bounds:  assertion.Bounds{Lower: &low},
		Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
	}}
	if own != "" {
		a.Decide = &assertion.Decide{OnInconclusive: own}
	}
	c := &results.Case{
		Key: "noisy", Run: "noisy", Workload: "transfer", Status: results.OK,
		Assertions: []*results.AssertionVerdict{a},
	}
	for i, v := range []float64{36, 41, 45} {
		c.Launches = append(c.Launches, &results.Launch{
			Index: i, Status: results.OK, Verified: true, Nodes: []string{"n"},
			Metrics: results.ValuesOf(map[string]float64{"bandwidth": v}),
		})
	}
	doc := &results.Document{
		Schema: results.Schema, Scenario: results.Scenario{Name: "s"}, Cases: []*results.Case{c},
		Session: results.Session{ID: "s", Started: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)},
	}
	if policy != "" {
		doc.Session.Inconclusive = &assertion.Inconclusive{As: policy}
	}
	gate.Judge(doc)
	return doc
}

// classOf is the outcome of the only test case of a report: error, failure, skipped or passed, with what it says.
func classOf(t *testing.T, doc *results.Document) (class, says string) {
	t.Helper()
	var b bytes.Buffer
	if err := JUnit(&b, doc); err != nil {
		t.Fatal(err)
	}
	_, test, _ := strings.Cut(b.String(), "<testcase ")
	test, _, _ = strings.Cut(test, "</testcase>")
	for _, class := range []string{"error", "failure", "skipped"} {
		if m := regexp.MustCompile(`<` + class + `[^>]* message="([^"]*)"`).FindStringSubmatch(test); m != nil {
			return class, m[1]
		}
	}
	_, says, _ = strings.Cut(test, "<system-out>")
	says, _, _ = strings.Cut(says, "</system-out>")
	return "passed", says
}

// An inconclusive assertion is an error, or what the policy makes of it: a failure, skipped with a warning, or passed.
// In each case the test case says that it is inconclusive.
func TestJUnitOfInconclusiveAssertionsFollowsThePolicy(t *testing.T) {
	for _, c := range []struct {
		policy, own string
		severity    assertion.Severity
		class       string
		begins      string
		exit        int
	}{
		{"", "", assertion.Gate, "error", "", gate.ExitInconclusive},
		{"fail", "", assertion.Gate, "failure", "inconclusive, which counts as fail: ", gate.ExitFailed},
		{"warn", "", assertion.Gate, "skipped", "warn: inconclusive, which counts as warn: ", gate.ExitPassed},
		{"pass", "", assertion.Gate, "passed", "pass: inconclusive, which counts as pass: ", gate.ExitPassed},
		{"pass", "fail", assertion.Gate, "failure", "inconclusive, which counts as fail: ", gate.ExitFailed},
		{"fail", "warn", assertion.Gate, "skipped", "warn: inconclusive, which counts as warn: ", gate.ExitPassed},
		{"fail", "inconclusive", assertion.Gate, "error", "", gate.ExitInconclusive},
		{"", "", assertion.Warn, "skipped", "warn: inconclusive: ", gate.ExitPassed},
	} {
		doc := undecidedSession(c.policy, c.own, c.severity)
		class, says := classOf(t, doc)
		if class != c.class || !strings.HasPrefix(says, c.begins) || !strings.Contains(says, "bandwidth ") {
			t.Errorf("policy %q, own %q, %s: %s %q", c.policy, c.own, c.severity, class, says)
		}
		if doc.Session.ExitCode != c.exit {
			t.Errorf("policy %q, own %q, %s: exit code %d, want %d", c.policy, c.own, c.severity, doc.Session.ExitCode,
				c.exit)
		}
		if red := class == "error" || class == "failure"; red != (c.exit != gate.ExitPassed) {
			t.Errorf("policy %q, own %q: %s with exit code %d", c.policy, c.own, class, c.exit)
		}
	}
}

// So is a case of which no launch is usable.
func TestJUnitOfUnmeasuredCasesFollowsThePolicy(t *testing.T) {
	for policy, want := range map[string]string{"": "error", "fail": "failure", "warn": "skipped", "pass": "passed"} {
		doc := undecidedSession(policy, "", assertion.Gate)
		c := doc.Cases[0]
		c.Assertions = nil
		for _, l := range c.Launches {
			l.Discarded = "node n was busy"
		}
		doc.Session.ExitCode, doc.Session.Status = 0, ""
		gate.Judge(doc)
		class, says := classOf(t, doc)
		if class != want || says == "" {
			t.Errorf("policy %q: %s %q, want %s", policy, class, says, want)
		}
	}
}
