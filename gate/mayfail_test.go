package gate

import (
	"strings"
	"testing"
	"time"

	"weir/assertion"
	"weir/results"
)

var excuse = assertion.XFail{Reason: "issue 1044", Until: "2026-11-30"}

// mayFail is a case that may be an error, with the launches that caseOf makes.
func mayFail(key string, values ...float64) *results.Case {
	c := caseOf(key, values...)
	c.Run, c.MayFail = "excused", &results.MayFail{XFail: excuse}
	return c
}

func inError(c *results.Case, reason string) *results.Case {
	c.Status, c.Reason = results.Error, reason
	return c
}

func startedOn(day string, doc *results.Document) *results.Document {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	doc.Session.Started = at.Add(23 * time.Hour)
	Judge(doc)
	return doc
}

func TestErrorsOfARunThatMayFail(t *testing.T) {
	withoutMetric := func() *results.Case {
		c := mayFail("c", 46, 46, 46)
		for _, l := range c.Launches {
			l.Metrics = results.ValuesOf(map[string]float64{"latency.p50": 1})
		}
		return c
	}
	for _, c := range []struct {
		name      string
		day       string
		c         *results.Case
		verdict   results.Verdict
		says      string
		asserted  results.Verdict
		exit      int
		countedAs string
	}{
		{"an error", "2026-11-30", inError(mayFail("c"), "launch 1: exit status 1"), results.XFail,
			"expected to fail until 2026-11-30 (issue 1044): the case ended with an error: launch 1: exit status 1",
			results.XFail, ExitPassed, "xfail"},
		{"an error a day later", "2026-12-01", inError(mayFail("c"), "launch 1: exit status 1"), "",
			"may_fail expired on 2026-11-30 (issue 1044)", results.ErrorVerdict, ExitExecution, "error"},
		{"what was measured is impossible", "2026-11-01", unverified(mayFail("c", 46, 46, 46)), results.XFail,
			"not verified", results.XFail, ExitPassed, "xfail"},
		{"a metric is missing", "2026-11-01", withoutMetric(), results.XFail, "metric bandwidth is missing",
			results.XFail, ExitPassed, "xfail"},
		{"it works", "2026-11-01", mayFail("c", inBand...), results.XPass, "but it works", results.Pass, ExitFailed,
			"xpass"},
		{"it works a day later", "2026-12-01", mayFail("c", inBand...), "", "", results.Pass, ExitPassed, "ok"},
		{"it misses", "2026-11-01", mayFail("c", outBand...), results.XFail,
			"expected to fail until 2026-11-30 (issue 1044): bw does not hold: bandwidth", results.XFail,
			ExitPassed, "xfail"},
		{"it misses a day later", "2026-12-01", mayFail("c", outBand...), "", "", results.Fail, ExitFailed, "ok"},
		{"it is inconclusive", "2026-11-01", mayFail("c", 39, 40, 42), "", "", results.InconclusiveVerdict,
			ExitInconclusive, "ok"},
		{"it was left out", "2026-11-01", skippedCase(mayFail("c")), "", "", results.SkippedVerdict, ExitEmpty,
			"skipped"},
	} {
		a := band(p(40), p(50), []int{3})
		c.c.Assertions = []*results.AssertionVerdict{a}
		doc := startedOn(c.day, docOf(c.c))
		got := c.c.MayFail
		if got.Verdict != c.verdict || !strings.Contains(got.Message, c.says) || c.says == "" && got.Message != "" {
			t.Errorf("%s: %q: %s", c.name, got.Verdict, got.Message)
		}
		wantVerdict(t, a, c.asserted)
		if doc.Session.ExitCode != c.exit {
			t.Errorf("%s: exit code %d, want %d", c.name, doc.Session.ExitCode, c.exit)
		}
		if doc.Summary.Cases[c.countedAs] != 1 {
			t.Errorf("%s: %v", c.name, doc.Summary.Cases)
		}
		before := *got
		Judge(doc)
		if *got != before || a.Verdict != c.asserted {
			t.Errorf("%s: judged again it is %+v, %s", c.name, got, a.Verdict)
		}
	}
}

func unverified(c *results.Case) *results.Case {
	c.Launches[1].Verified = false
	return c
}

func skippedCase(c *results.Case) *results.Case {
	c.Status, c.Reason = results.Skipped, "by --only"
	return c
}

// A launch that was taken out of the document is no known error.
func TestAGapIsNotExcused(t *testing.T) {
	c := mayFail("c", 46, 46)
	c.Made = 3
	if doc := startedOn("2026-11-01", docOf(c)); c.Excused() || doc.Session.ExitCode != ExitExecution {
		t.Errorf("%+v, exit code %d", c.MayFail, doc.Session.ExitCode)
	}
}

// Nothing is known of a session that was cut short.
func TestACaseThatWorkedUntilTheAbortIsNoUnexpectedSuccess(t *testing.T) {
	c := mayFail("c", 46)
	doc := docOf(c)
	doc.Session.ExitCode = ExitInterrupted
	if startedOn("2026-11-01", doc); c.Unexpected() || doc.Session.ExitCode != ExitInterrupted {
		t.Errorf("%+v, exit code %d", c.MayFail, doc.Session.ExitCode)
	}
}

// Whoever compares with a case that may fail cannot be judged without it, and is excused with
// it; a case that has no excuse spoils what it is part of.
func TestAssertionsOverCasesThatMayFail(t *testing.T) {
	for _, c := range []struct {
		name  string
		other *results.Case
		want  results.Verdict
		exit  int
	}{
		{"an excused error", inError(mayFail("other"), "killed"), results.XFail, ExitPassed},
		{"an error", inError(caseOf("other"), "killed"), results.ErrorVerdict, ExitExecution},
	} {
		own := caseOf("c", inBand...)
		ratio := against("other", p(0.9), nil, []int{3})
		own.Assertions = []*results.AssertionVerdict{ratio}
		doc := docOf(own, c.other)
		along := trend("increases", 0.1, []int{3}, "c", "other")
		parts := quantified("all", p(1), []int{3}, "c", "other")
		doc.Assertions = []*results.AssertionVerdict{along, parts}
		startedOn("2026-11-01", doc)
		for _, a := range []*results.AssertionVerdict{ratio, along, parts} {
			wantVerdict(t, a, c.want)
		}
		if doc.Session.ExitCode != c.exit {
			t.Errorf("%s: exit code %d", c.name, doc.Session.ExitCode)
		}
	}
	mixed := quantified("all", p(1), []int{3}, "a", "b")
	doc := docOf(inError(mayFail("a"), "killed"), caseOf("b", 46, 46, 46))
	for _, l := range doc.Cases[1].Launches {
		l.Metrics = results.ValuesOf(map[string]float64{"latency.p50": 1})
	}
	doc.Assertions = []*results.AssertionVerdict{mixed}
	startedOn("2026-11-01", doc)
	wantVerdict(t, mixed, results.ErrorVerdict)
}

// What several cases miss is excused where all of them may fail; one of them is then no success.
func TestMissesOverCasesThatMayFail(t *testing.T) {
	for name, test := range map[string]struct {
		other *results.Case
		want  results.Verdict
		exit  int
	}{
		"all may fail": {mayFail("b", 46, 46, 46), results.XFail, ExitPassed},
		"one may":      {caseOf("b", 46, 46, 46), results.Fail, ExitFailed},
	} {
		parts := quantified("all", p(100), []int{3}, "a", "b")
		doc := docOf(mayFail("a", 46, 46, 46), test.other)
		doc.Assertions = []*results.AssertionVerdict{parts}
		startedOn("2026-11-01", doc)
		wantVerdict(t, parts, test.want)
		if doc.Session.ExitCode != test.exit || doc.Cases[0].Unexpected() {
			t.Errorf("%s: exit code %d, %+v", name, doc.Session.ExitCode, doc.Cases[0].MayFail)
		}
	}
}

// An assertion with an expectation of its own keeps it, and one of severity info is no failure.
func TestExpectationsInARunThatMayFail(t *testing.T) {
	own, info := band(p(100), nil, []int{3}), band(p(100), nil, []int{3})
	own.XFail = &assertion.XFail{Reason: "issue 7", Until: "2026-11-30"}
	info.Severity = assertion.Info
	c, d := mayFail("c", 46, 46, 46), mayFail("d", 46, 46, 46)
	c.Assertions, d.Assertions = []*results.AssertionVerdict{own}, []*results.AssertionVerdict{info}
	startedOn("2026-11-01", docOf(c, d))
	if own.Verdict != results.XFail || !strings.Contains(own.Message, "issue 7") || c.Unexpected() {
		t.Errorf("%s: %s, %+v", own.Verdict, own.Message, c.MayFail)
	}
	if !d.Unexpected() || info.Standing() != string(assertion.Info) {
		t.Errorf("%+v, %s", d.MayFail, info.Standing())
	}
}

// A setup of a run is excused with the cases that it makes errors.
func TestAFailedSetupOfARunThatMayFail(t *testing.T) {
	for run, want := range map[string]int{"excused": ExitPassed, "run": ExitExecution} {
		c := inError(mayFail("c"), "setup failed")
		c.Run = run
		if run == "run" {
			c.MayFail = nil
		}
		doc := docOf(c)
		doc.Commands = []results.Command{{Name: "prepare", Stage: "setup", Scope: "run", Of: run, Status: "failed"}}
		if startedOn("2026-11-01", doc); doc.Session.ExitCode != want {
			t.Errorf("%s: exit code %d, want %d", run, doc.Session.ExitCode, want)
		}
		doc.Commands = append(doc.Commands, results.Command{
			Name: "tidy", Stage: "teardown", Scope: "run", Of: run, Status: "failed",
		})
		if Judge(doc); doc.Session.ExitCode != ExitExecution {
			t.Errorf("%s: a teardown that failed gives exit code %d", run, doc.Session.ExitCode)
		}
	}
}
