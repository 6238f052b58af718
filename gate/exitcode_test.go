package gate

import (
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func TestExitCodePrecedence(t *testing.T) {
	order := []int{
		ExitInternal, ExitUsage, ExitStale, ExitExecution, ExitFailed, ExitInconclusive, ExitEmpty, ExitPassed,
	}
	for i, strong := range order {
		for _, weak := range order[i:] {
			if Worst(strong, weak) != strong || Worst(weak, strong) != strong {
				t.Errorf("%d does not outrank %d", strong, weak)
			}
		}
	}
	if Worst() != ExitPassed || Worst(2) != ExitInternal {
		t.Errorf("nothing is %d, an unknown code %d", Worst(), Worst(2))
	}
}

func TestEveryExitCodeIsDocumentedOnce(t *testing.T) {
	seen := map[int]bool{}
	for _, c := range ExitCodes {
		if seen[c.Code] || c.Meaning == "" {
			t.Errorf("code %d: %q", c.Code, c.Meaning)
		}
		seen[c.Code] = true
	}
	for _, c := range precedence {
		if !seen[c] {
			t.Errorf("code %d is not documented", c)
		}
	}
	if seen[2] {
		t.Error("code 2 belongs to Go's panics")
	}
}

func TestExitCodeOfASession(t *testing.T) {
	fail := func() *results.Case {
		c := caseOf("f", 1, 1, 1)
		c.Assertions = []*results.AssertionVerdict{band(p(40), nil, looks)}
		return c
	}
	broken := func() *results.Case { return &results.Case{Key: "b", Workload: "transfer", Status: results.Error} }
	skipped := func() *results.Case { return &results.Case{Key: "s", Workload: "transfer", Status: results.Skipped} }
	command := func(stage, scope string) *results.Document {
		d := docOf(caseOf("c", 1))
		d.Commands = []results.Command{{Name: "x", Stage: stage, Scope: scope, Status: "failed"}}
		return d
	}
	for _, c := range []struct {
		name   string
		doc    *results.Document
		code   int
		status string
	}{
		{"a failed setup before a launch, which was made again", command("setup", "launch"), ExitPassed,
			results.Passed},
		{"a failed teardown after a launch", command("teardown", "launch"), ExitExecution, results.Errored},
		{"a failed setup of a run", command("setup", "run"), ExitExecution, results.Errored},
		{"a failed setup of the session", command("setup", "session"), ExitExecution, results.Errored},
		{"all left out", docOf(skipped(), &results.Case{Key: "x", Status: results.Excluded}), ExitEmpty,
			results.Errored},
		{"nothing planned", docOf(), ExitEmpty, results.Errored},
		{"all skipped", docOf(skipped(), skipped()), ExitEmpty, results.Errored},
		{"measured without assertions", docOf(caseOf("c", 1)), ExitPassed, results.Passed},
		{"failed", docOf(fail(), skipped()), ExitFailed, results.Failed},
		{"an error outranks a failure", docOf(fail(), broken()), ExitExecution, results.Errored},
		{"failed check", &results.Document{Checks: []results.Check{{Name: "x", Status: "failed"}},
			Cases: []*results.Case{skipped()}}, ExitExecution, results.Errored},
		{"session error", &results.Document{Session: results.Session{Reason: "etcd did not start"}}, ExitExecution,
			results.Errored},
		{"interrupted", &results.Document{Session: results.Session{ExitCode: ExitInterrupted, Reason: "interrupted"},
			Cases: []*results.Case{fail(), broken()}}, ExitInterrupted, results.Aborted},
		{"total timeout", &results.Document{Session: results.Session{ExitCode: ExitTimeout},
			Cases: []*results.Case{caseOf("c", 1)}}, ExitTimeout, results.Aborted},
		{"internal", &results.Document{Session: results.Session{ExitCode: ExitInternal},
			Cases: []*results.Case{broken()}}, ExitInternal, results.Errored},
		{"an earlier verdict does not stick", &results.Document{Session: results.Session{ExitCode: ExitFailed},
			Cases: []*results.Case{caseOf("c", 1)}}, ExitPassed, results.Passed},
	} {
		for range 2 { // judging again changes nothing
			Judge(c.doc)
			if c.doc.Session.ExitCode != c.code || c.doc.Session.Status != c.status {
				t.Errorf("%s: exit %d %s, want %d %s", c.name, c.doc.Session.ExitCode, c.doc.Session.Status, c.code,
					c.status)
			}
		}
	}
}

// Two cases of one key are a damaged document: it is judged without a stumble, and
// asks for no launch of which nobody knows which case it would be.
func TestCasesOfOneKeyAskForNoLaunches(t *testing.T) {
	rc := carried(results.DataUse, "rc_mlx5")
	for name, a := range map[string]*results.AssertionVerdict{
		"a band": band(p(41.832), nil, looks), "a transport": stated(assertion.All, looks, "rc_mlx5"),
	} {
		doc := docOf(caseOf("c", 40, 42, 44), caseOf("c", 46, 46, 46))
		for _, l := range doc.Cases[0].Launches[1:] {
			l.Transports = rc
		}
		doc.Cases[0].Launches = doc.Cases[0].Launches[1:] // undecided, as there is no look yet
		doc.Cases[0].Assertions = []*results.AssertionVerdict{a}
		Judge(doc)
		wantVerdict(t, a, results.InconclusiveVerdict)
		if got := Undecided(doc); len(got) > 0 {
			t.Errorf("%s: undecided %v", name, got)
		}
	}
}

func TestOnlyUndecidedCasesGetLaunches(t *testing.T) {
	cases, keys := series([]float64{66, 66, 66}, []float64{40, 42, 44}, []float64{42, 44, 40}, []float64{66, 66, 66})
	for _, c := range cases {
		c.Assertions = []*results.AssertionVerdict{band(p(41.832), nil, looks)}
	}
	cases[2].Assertions[0].Severity = assertion.Info
	doc := docOf(cases...)
	if got := Undecided(doc); len(got) != 1 || got[0] != "c1" {
		t.Errorf("undecided %v, want c1", got)
	}
	doc.Assertions = []*results.AssertionVerdict{trend("increases", 0, looks, keys[1], keys[2])}
	if got := Undecided(doc); len(got) != 2 || got[0] != "c1" || got[1] != "c2" {
		t.Errorf("undecided with a trend %v, want c1 and c2", got)
	}
}
