package gate

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

var excuse = assertion.XFail{Reason: "issue 1044", Until: "2026-11-30"}

// mayFail is a case that may be an error, with the launches that caseOf makes.
func mayFail(key string, values ...float64) *results.Case {
	c := caseOf(key, values...)
	c.Run, c.MayFail = "excused", &results.MayFail{MayFail: assertion.MayFail{XFail: excuse}}
	return c
}

// strictly is a case of which an unexpected success is reported.
func strictly(c *results.Case) *results.Case {
	c.MayFail.Strict = true
	return c
}

// inError has a launch that failed after its programs had started.
func inError(c *results.Case, reason string) *results.Case {
	c.Launches = append(c.Launches, &results.Launch{
		Index: len(c.Launches), Status: results.Error,
		Failure: &results.Failure{Phase: "run", Kind: results.Fault, Cause: reason},
	})
	return unlaunched(c, reason)
}

// unlaunched is an error that no launch tells of.
func unlaunched(c *results.Case, reason string) *results.Case {
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
		{"it works", "2026-11-01", mayFail("c", inBand...), "",
			"may_fail until 2026-11-30 (issue 1044) is no longer needed: it works", results.Pass, ExitPassed, "ok"},
		{"it works, strictly", "2026-11-01", strictly(mayFail("c", inBand...)), results.XPass, "but it works",
			results.Pass, ExitFailed, "xpass"},
		{"it works a day later", "2026-12-01", strictly(mayFail("c", inBand...)), "",
			"may_fail until 2026-11-30 (issue 1044) is no longer needed: it works", results.Pass, ExitPassed, "ok"},
		{"one launch failed and is retried", "2026-11-01", withRetry(mayFail("c", inBand...)), "", "", results.Pass,
			ExitPassed, "ok"},
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
		if !reflect.DeepEqual(*got, before) || a.Verdict != c.asserted {
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

// withRetry has a failed launch that was repeated.
func withRetry(c *results.Case) *results.Case {
	c.Launches = append(c.Launches, &results.Launch{
		Index: len(c.Launches), Status: results.Error, Retried: true, Failure: &results.Failure{Cause: "exit status 1"},
	})
	return c
}

// A failure says that its may_fail or its xfail has expired, and an xfail that has expired and is not needed that it
// holds.
func TestExpiredExpectations(t *testing.T) {
	for day, wants := range map[string][3]string{
		"2026-12-01": {"; may_fail expired on 2026-11-30 (issue 1044)",
			"; the expectation to fail until 2026-11-30 (issue 1044) has expired",
			"the expectation to fail until 2026-11-30 (issue 1044) has expired and is no longer needed: it holds"},
	} {
		run, missed, held := mayFail("run", outBand...), caseOf("missed", outBand...), caseOf("held", inBand...)
		for _, c := range []*results.Case{run, missed, held} {
			c.Assertions = []*results.AssertionVerdict{band(p(40), p(50), []int{3})}
		}
		missed.Assertions[0].XFail, held.Assertions[0].XFail = &excuse, &excuse
		startedOn(day, docOf(run, missed, held))
		for i, c := range []*results.Case{run, missed, held} {
			if got := c.Assertions[0].Message; !strings.HasSuffix(got, wants[i]) {
				t.Errorf("%s on %s: %q, want %q", c.Key, day, got, wants[i])
			}
		}
		if held.Assertions[0].Verdict != results.Pass || missed.Assertions[0].Verdict != results.Fail {
			t.Errorf("%s and %s", held.Assertions[0].Verdict, missed.Assertions[0].Verdict)
		}
	}
}

// Documents of versions in which each expectation was strict are judged as this one judges.
func TestAnUnexpectedSuccessOfAnEarlierVersion(t *testing.T) {
	c := mayFail("c", inBand...)
	c.MayFail.Verdict, c.MayFail.Message = results.XPass, "expected to fail, but it works"
	doc := startedOn("2026-11-01", docOf(c))
	if doc.Session.ExitCode != ExitPassed || c.Unexpected() ||
		!strings.HasSuffix(c.MayFail.Message, "is no longer needed: it works") {
		t.Errorf("%+v, exit code %d", c.MayFail, doc.Session.ExitCode)
	}
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
	c := strictly(mayFail("c", 46))
	doc := docOf(c)
	doc.Session.ExitCode = ExitInterrupted
	if startedOn("2026-11-01", doc); c.Unexpected() || doc.Session.ExitCode != ExitInterrupted {
		t.Errorf("%+v, exit code %d", c.MayFail, doc.Session.ExitCode)
	}
}

// An assertion that compares with a case that may fail is excused with
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
		doc := docOf(strictly(mayFail("a", 46, 46, 46)), test.other)
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
	own.XFail = &assertion.XFail{Reason: "expected-to-fail", Until: "2026-11-30"}
	info.Severity = assertion.Info
	c, d := strictly(mayFail("c", 46, 46, 46)), strictly(mayFail("d", 46, 46, 46))
	c.Assertions, d.Assertions = []*results.AssertionVerdict{own}, []*results.AssertionVerdict{info}
	startedOn("2026-11-01", docOf(c, d))
	if own.Verdict != results.XFail || !has(own.Reasons, "expected-to-fail") || c.Unexpected() {
		t.Errorf("%s: %s, %+v", own.Verdict, own.Message, c.MayFail)
	}
	if !d.Unexpected() || info.Standing() != string(assertion.Info) {
		t.Errorf("%+v, %s", d.MayFail, info.Standing())
	}
}

// What keeps the programs of a run from starting is excused by a match alone, and another error than the one
// that matches is not.
func TestErrorsThatMayFailExcuses(t *testing.T) {
	const lacks = "libnixl.so: cannot open shared object file: No such file or directory"
	failing := func(phase, kind, cause string, log ...string) func(*results.Case) {
		return func(c *results.Case) {
			inError(c, "launch 1: "+cause)
			*c.Launches[0].Failure = results.Failure{Phase: phase, Kind: kind, Cause: cause, Log: log}
		}
	}
	unlaunched := func(reason string) func(*results.Case) {
		return func(c *results.Case) { unlaunched(c, reason) }
	}
	for _, c := range []struct {
		name    string
		fails   func(*results.Case)
		match   string
		excused bool
	}{
		{"a program that fails", failing("run", results.Fault, "exit status 1"), "", true},
		{"a program that crashes", failing("run", results.Crashed, "killed by signal 11"), "", true},
		{"a connection", failing("connect", results.FailedLink, "connection refused"), "", true},
		{"a deadline", failing("run", results.TimedOut, "did not end within 1s"), "", true},
		{"what was computed", failing(results.Evaluating, results.Wrong, "no table in the output"), "", true},
		{"a match of the cause", failing("run", results.Fault, "exit status 1: ETCD URI"), "ETCD +URI", true},
		{"a match of the log", failing("run", results.Fault, "exit status 1", "ETCD URI"), "^ETCD", false},
		{"a match of a line of the log", failing("run", results.Fault, "exit status 1", "ETCD URI"), "(?m)^ETCD", true},
		{"another error", failing("run", results.Crashed, "killed by signal 11"), "ETCD", false},
		{"a case that lacks something", unlaunched("missing: fabric nixl on node n: " + lacks), "", false},
		{"the same, and a match", unlaunched("missing: fabric nixl on node n: " + lacks), "libnixl", true},
		{"the same, and another match", unlaunched("missing: fabric nixl on node n: " + lacks), "ETCD URI", false},
		{"a setup", failing("setup", results.FailedSetup, "setup command false: exit status 1"), "", false},
		{"a setup, and a match", failing("setup", results.FailedSetup, "setup command false: exit 1"), "false", true},
		{"a fabric that does not open", failing("ready", results.FailedReady, "backend UCX: -3"), "", false},
		{"a service that is not ready", failing("ready", results.Fault, "service etcd: exit status 1"), "", false},
		{"the same, of a version without kinds", failing("ready", "", "service etcd: exit status 1"), "", false},
		{"a program that is not there", failing("start", results.FailedReady, "starting x: not in PATH"), "", false},
		{"a shell without its program", failing("run", results.Fault, "role it: exit status 127"), "", false},
		{"a file that is no program", failing("run", results.Fault, "role it: exit status 126"), "", false},
		{"a loader", failing("run", results.Fault, "exit status 1\nbench: "+lacks), "", false},
		{"a loader, and a match", failing("run", results.Fault, "exit status 1\nbench: "+lacks), "libnixl", true},
		{"a module", failing("run", results.Fault, "ModuleNotFoundError: No module named 'nixl'"), "", false},
		{"a plugin", failing("run", results.Fault, "exit status 1\nPlugin LIBFABRIC not found"), "", false},
		{"a plugin's file", failing("run", results.Fault, "Failed to load plugin from /x/libplugin_UCX.so"), "", false},
		{"an endpoint", failing("run", results.Fault, "exit status 1\n404: model not found"), "", true},
		{"an exit status that begins alike", failing("run", results.Fault, "exit status 12"), "", true},
	} {
		one := mayFail("c")
		c.fails(one)
		one.MayFail.Match = c.match
		doc := startedOn("2026-11-01", docOf(one))
		code := map[bool]int{true: ExitPassed, false: ExitExecution}[c.excused]
		if one.Excused() != c.excused || doc.Session.ExitCode != code {
			t.Errorf("%s: exit code %d, %+v", c.name, doc.Session.ExitCode, one.MayFail)
		}
		if !c.excused && !strings.HasPrefix(one.MayFail.Message, "may_fail (issue 1044) does not excuse it: ") {
			t.Errorf("%s: it says %q", c.name, one.MayFail.Message)
		}
	}
}

// A case that was given up with others of its run has their failure; a match is of each failure of a case.
func TestErrorsOfSeveralLaunchesThatMayFail(t *testing.T) {
	for kind, excused := range map[string]bool{results.Fault: true, results.FailedReady: false} {
		a, b := inError(mayFail("a"), "no"), mayFail("b")
		a.Launches[0].Failure.Kind = kind
		unlaunched(b, "2 launches of its group failed; the last: "+a.Launches[0].Failure.String())
		if startedOn("2026-11-01", docOf(a, b)); a.Excused() != excused || b.Excused() != excused {
			t.Errorf("%s: %+v, %+v", kind, a.MayFail, b.MayFail)
		}
	}
	c := inError(inError(mayFail("c"), "another"), "known")
	if c.MayFail.Match = "known"; startedOn("2026-11-01", docOf(c)).Cases[0].Excused() {
		t.Error("a match of one failure excuses another")
	}
	if c.Launches[0].Retried = true; !startedOn("2026-11-01", docOf(c)).Cases[0].Excused() {
		t.Error("a failure that was made again speaks against the one that counts")
	}
}

// What was measured and cannot be used is an error like others; what is missed needs no match.
func TestMatchesOfWhatWasMeasured(t *testing.T) {
	bad, missing := unverified(mayFail("c", 46, 46, 46)), mayFail("c", outBand...)
	for match, want := range map[string]bool{"not verified": true, "ETCD": false} {
		bad.MayFail.Match, missing.MayFail.Match = match, match
		if startedOn("2026-11-01", docOf(bad)); bad.Excused() != want {
			t.Errorf("%s: %+v", match, bad.MayFail)
		}
		missing.Assertions = []*results.AssertionVerdict{band(p(40), p(50), []int{3})}
		if startedOn("2026-11-01", docOf(missing)); !missing.Excused() {
			t.Errorf("%s: a miss: %+v", match, missing.MayFail)
		}
	}
}

// A setup of a run is excused with the cases that it makes errors.
func TestAFailedSetupOfARunThatMayFail(t *testing.T) {
	for run, want := range map[string]int{"excused": ExitPassed, "unnamed": ExitExecution, "run": ExitExecution} {
		c := unlaunched(mayFail("c"), "setup failed")
		c.Run = run
		switch run {
		case "excused":
			c.MayFail.Match = "setup"
		case "run":
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
