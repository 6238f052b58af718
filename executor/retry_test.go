package executor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// retrying makes every run of a plan retry.
func retrying(p *planner.Plan, r planner.Retry) *planner.Plan {
	for _, g := range p.Groups {
		p.Runs = append(p.Runs, &planner.Run{Name: g.Run, Retry: &r})
	}
	return p
}

// launchesOf are the launches of a case, as "0:retried 1:ok".
func launchesOf(c *results.Case) string {
	var all []string
	for _, l := range c.Launches {
		status := l.Status
		if l.Retried {
			status = "retried"
		}
		all = append(all, strings.Join([]string{string(rune('0' + l.Index)), status}, ":"))
	}
	return strings.Join(all, " ")
}

func TestFailedLaunchesAreMadeAgain(t *testing.T) {
	phase.Long(t)
	infrastructure := []string{
		results.FailedSetup, results.FailedReady, results.FailedLink, results.Crashed, results.TimedOut,
		results.NodeLost,
	}
	for name, test := range map[string]struct {
		fault, launches string
		retry           planner.Retry
		want            string
		kind            string // of the first failure
	}{
		"crash": {"kill run 1", "0", planner.Retry{Times: 1, On: infrastructure}, "0:retried 1:ok 2:ok",
			results.Crashed},
		"later": {"kill run 1", "1", planner.Retry{Times: 1, On: infrastructure}, "0:ok 1:retried 2:ok",
			results.Crashed},
		"twice": {"kill run 1", "0,1", planner.Retry{Times: 2, On: infrastructure},
			"0:retried 1:retried 2:ok 3:ok", results.Crashed},
		"each has its own": {"kill run 1", "0,2", planner.Retry{Times: 1, On: infrastructure},
			"0:retried 1:ok 2:retried 3:ok", results.Crashed},
		"too often": {"kill run 1", "0,1", planner.Retry{Times: 1, On: infrastructure}, "0:retried 1:error",
			results.Crashed},
		"ready": {"error ready 1", "0", planner.Retry{Times: 1, On: []string{results.FailedReady}},
			"0:retried 1:ok 2:ok", results.FailedReady},
		"connect": {"error connect 1", "0", planner.Retry{Times: 1, On: []string{results.FailedLink}},
			"0:retried 1:ok 2:ok", results.FailedLink},
		"timeout": {"hang run 1", "0", planner.Retry{Times: 1, On: []string{results.TimedOut}},
			"0:retried 1:ok 2:ok", results.TimedOut},
		"another kind": {"error run 1", "0", planner.Retry{Times: 1, On: infrastructure}, "0:error", results.Fault},
		"asked for": {"error run 1", "0", planner.Retry{Times: 1, On: []string{results.Fault}},
			"0:retried 1:ok 2:ok", results.Fault},
		"never wrong data": {"corrupt run 1", "0",
			planner.Retry{Times: 3, On: append(results.FailureKinds, results.Wrong)}, "0:error", results.Wrong},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c := []*planner.Case{aCase("c", env(faultEnv, test.fault), env(faultLaunchesEnv, test.launches))}
			if test.kind == results.TimedOut {
				c[0].Timeout = 1
			}
			doc := b.run(retrying(aPlan(c, aGroup("g", c, 2)), test.retry))
			d := doc.Case("c")
			if got := launchesOf(d); got != test.want {
				t.Errorf("launches %s, want %s", got, test.want)
			}
			if ok := !strings.HasSuffix(test.want, "error"); ok != (d.Status == results.OK) {
				t.Errorf("the case is %s: %s", d.Status, d.Reason)
			}
			i := slices.IndexFunc(d.Launches, func(l *results.Launch) bool { return l.Failure != nil })
			if f := d.Launches[i].Failure; f.Kind != test.kind {
				t.Errorf("failure %+v, want kind %s", f, test.kind)
			}
		})
	}
}

// TestRetryIsOneCasesOwn: cases that the failed launch had run keep their results, and later cases do not wait for
// the retry.
func TestRetryIsOneCasesOwn(t *testing.T) {
	b := newBench(t)
	var cases []*planner.Case
	for _, k := range []string{"c[x=1]", "c[x=2]", "c[x=3]"} {
		cases = append(cases, aCase(k, env(faultEnv, "kill run 0 c[x=2]"), env(faultLaunchesEnv, "0")))
	}
	doc := b.run(retrying(aPlan(cases, aGroup("g", cases, 2)), planner.Retry{Times: 1, On: []string{results.Crashed}}))
	for key, want := range map[string]string{
		"c[x=1]": "0:ok 1:ok", "c[x=2]": "0:retried 1:ok 2:ok", "c[x=3]": "1:ok 2:ok",
	} {
		if got := launchesOf(doc.Case(key)); got != want {
			t.Errorf("%s has %s, want %s", key, got, want)
		}
	}
}

func TestRetryWaits(t *testing.T) {
	b := newBench(t)
	c := []*planner.Case{aCase("c", env(faultEnv, "kill run 1"), env(faultLaunchesEnv, "0"))}
	doc := b.run(retrying(aPlan(c, aGroup("g", c)), planner.Retry{Times: 1, On: []string{results.Crashed}, Wait: 0.8}))
	l := doc.Case("c").Launches
	if gap := l[1].Started.Sub(l[0].Started) - toDuration(l[0].Duration); gap < 800*time.Millisecond {
		t.Errorf("made again after %v", gap)
	}
}

// TestWaitBeforeARetryIgnoresTheTimeOfDay, which the document has for the failed launch.
func TestWaitBeforeARetryIgnoresTheTimeOfDay(t *testing.T) {
	c := []*planner.Case{aCase("c")}
	p := retrying(aPlan(c, aGroup("g", c)), planner.Retry{Times: 1, On: []string{results.Crashed}, Wait: 10})
	for name, at := range map[string]time.Time{
		"set back": time.Now().Add(time.Hour), "set forward": time.Now().Add(-time.Hour),
	} {
		s := newSession(p, newBench(t).options())
		s.ledger.Case("c").Launches = []*results.Launch{{Started: at, Status: results.Error, Retried: true}}
		if got := s.ledger.RetryDelay(c); got != 10*time.Second {
			t.Errorf("%s, of a former session: %v", name, got)
		}
		s.ledger.NoteEvaluated("c", time.Now().Add(-4*time.Second))
		if got := s.ledger.RetryDelay(c); got > 6*time.Second || got < time.Second {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLaunchSetupIsRetried(t *testing.T) {
	b := newBench(t)
	c := []*planner.Case{aCase("c")}
	p := retrying(aPlan(c, aGroup("g", c)), planner.Retry{Times: 1, On: []string{results.FailedSetup}})
	p.Runs[0].LaunchSetup = []planner.Command{
		shell("flaky", "test -e "+b.notes()+" || { touch "+b.notes()+"; exit 1; }"),
	}
	if got := launchesOf(b.run(p).Case("c")); got != "0:retried 1:ok" {
		t.Errorf("launches %s", got)
	}
}

// TestPhaseDeadlines: each is the run's own, below that of the launch.
func TestPhaseDeadlines(t *testing.T) {
	phase.Long(t)
	for name, test := range map[string]struct {
		fault, phase, cause, kind string
	}{
		"ready":   {"hang ready 1", "ready", "did not become ready within", results.FailedReady},
		"connect": {"slow connected 1", "connect", "did not connect within 500ms", results.FailedLink},

		"run": {"slow run 1", "run", "did not get through warm-up and the timed part within 500ms", results.TimedOut},

		"verify": {"verify run 1", "verify", "did not verify what was moved within 500ms", results.TimedOut},

		"teardown": {"slow teardown 1", "teardown", "did not leave within 500ms", results.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p := onePlan(aCase("c", env(faultEnv, test.fault), timeout(time.Minute)))
			p.Runs = []*planner.Run{{Name: "c", Phases: map[string]float64{name: 0.5}}}
			f := failure(t, b.run(p, func(o *Options) { o.Deadlines.Teardown = time.Minute }), "c")
			if f.Phase != test.phase || !strings.Contains(f.Cause, test.cause) || f.Kind != test.kind {
				t.Errorf("got %+v", f)
			}
			if took := b.silence(); took > 20*time.Second {
				t.Errorf("found after %v", took)
			}
		})
	}
}

func TestNeedsOnOtherOutcomes(t *testing.T) {
	on := func(outcome string, key string) func(*planner.Case) {
		return func(c *planner.Case) { c.Needs, c.NeedsOn = []string{key}, map[string]string{key: outcome} }
	}
	b := newBench(t)
	good, bad := aCase("good"), aCase("bad", env(faultEnv, "kill run 1"))
	low := aCase("low", gated)
	cases := []*planner.Case{
		good, bad, low,
		aCase("if-good-failed", on("failed", "good")), aCase("if-bad-failed", on("failed", "bad")),
		aCase("if-low-failed", on("failed", "low")),
		aCase("after-good", on("always", "good")), aCase("after-bad", on("always", "bad")),
		aCase("if-skipped-failed", on("failed", "if-good-failed")),
		aCase("after-skipped", on("always", "if-good-failed")),
		aCase("with-skipped", needs("if-good-failed")), aCase("with-both", needs("if-good-failed", "bad")),
		aCase("if-unrun-failed", on("failed", "with-both")),
	}
	var groups []*planner.LaunchGroup
	for _, c := range cases {
		g := aGroup(c.Key, []*planner.Case{c})
		g.Needs = c.Needs
		groups = append(groups, g)
	}
	judge, undecided := judgeBy(map[string][]results.Verdict{"low": {fail}})
	doc := b.run(aPlan(cases, groups...), func(o *Options) { o.Judge, o.Undecided = judge, undecided })
	for key, want := range map[string]struct{ status, reason string }{
		"if-good-failed": {results.Skipped, "needs good to fail, and it did not"},
		"if-bad-failed":  {results.OK, ""},
		"if-low-failed":  {results.OK, ""},
		"after-good":     {results.OK, ""},
		"after-bad":      {results.OK, ""},
		"if-skipped-failed": {results.Skipped,
			"needs if-good-failed to fail, which did not run: needs good to fail, and it did not"},
		"after-skipped": {results.OK, ""},
		// What nothing but conditions left out is left out; what a failure kept from running was to run.
		"with-skipped": {results.Skipped, "needs good to fail, and it did not"},

		"with-both": {results.Skipped, "not run: needs bad, which failed: " + doc.Case("bad").Reason + " (and 1 more)"},

		"if-unrun-failed": {results.Skipped, "not run: needs with-both to fail, which did not run: needs bad, which failed: " +
			doc.Case("bad").Reason + " (and 1 more)"},
	} {
		if c := doc.Case(key); c.Status != want.status || c.Reason != want.reason ||
			c.NotReached() != strings.HasPrefix(want.reason, "not run: ") {
			t.Errorf("%s is %s: %s", key, c.Status, c.Reason)
		}
	}
}
