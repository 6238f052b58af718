package executor

import (
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// TestFailingRankIsNamed breaks rank 1 in each way in each phase. Its peer soon fails too, often earlier; it must
// never be the one that is named.
func TestFailingRankIsNamed(t *testing.T) {
	phase.Long(t)
	const key = "c[x=2]"
	ready := func(o *Options, _ *planner.Case) { o.Deadlines.Ready = 3 * time.Second }
	connect := func(o *Options, _ *planner.Case) { o.Deadlines.Connect = 3 * time.Second }
	run := func(_ *Options, c *planner.Case) { c.Timeout = 4 }
	teardown := func(o *Options, _ *planner.Case) { o.Deadlines.Teardown = 3 * time.Second }
	for _, test := range []struct {
		fault string
		phase string
		cause string
		slow  func(*Options, *planner.Case) // shortens the deadline that must pass first
	}{
		{fault: "kill ready 1", phase: "ready", cause: "killed by signal 9 (SIGKILL)"},
		{fault: "kill connect 1", phase: "connect", cause: "killed by signal 9 (SIGKILL)"},
		{
			fault: "kill run 1 " + key, phase: "run",
			cause: "killed by signal 9 (SIGKILL) in case c[x=2] at iteration 10 of 20",
		},
		{fault: "kill teardown 1", phase: "teardown", cause: "killed by signal 9 (SIGKILL)"},
		{fault: "exit ready 1", phase: "ready", cause: "exited with status 3 without a message"},
		{fault: "panic run 1 " + key, phase: "run", cause: "exited with status 2: a bug in the engine in case c[x=2]"},
		{fault: "error ready 1", phase: "ready", cause: "test: put: the card is on fire"},
		{fault: "error connect 1", phase: "connect", cause: "test: put: the card is on fire"},
		{
			fault: "error run 1 " + key, phase: "run",
			cause: "test: put: the card is on fire in case c[x=2] at iteration 10 of 20",
		},
		{fault: "garbage connect 1", phase: "connect", cause: "not a message of the rank protocol"},
		{fault: "garbage run 1 " + key, phase: "run", cause: "not a message of the rank protocol"},
		{fault: "hang ready 1", phase: "ready", cause: "did not become ready within 3s", slow: ready},
		{fault: "stop connect 1", phase: "connect", cause: "stopped by a signal", slow: connect},
		{
			fault: "stop run 1 " + key, phase: "run",
			cause: "stopped by a signal (SIGSTOP, or a debugger) in case c[x=2] at iteration 10 of 20", slow: run,
		},
		{fault: "hang run 1 " + key, phase: "run", cause: "stood still for", slow: run},
		{fault: "hang teardown 1", phase: "teardown", cause: "did not leave within 3s", slow: teardown},
	} {
		t.Run(strings.ReplaceAll(test.fault, " ", "_"), func(t *testing.T) {
			b := newBench(t)
			var cases []*planner.Case
			for _, k := range []string{"c[x=1]", key, "c[x=3]"} {
				cases = append(cases, aCase(k, env(faultEnv, test.fault)))
			}
			doc := b.run(onePlan(cases...), func(o *Options) {
				if test.slow != nil {
					test.slow(o, cases[1])
				}
			})
			if took := b.silence(); test.slow != nil && took > 20*time.Second {
				t.Errorf("reported after %v", took)
			}
			if doc.Session.ExitCode != 6 || doc.Session.Status != results.Errored {
				t.Errorf("session %+v", doc.Session)
			}
			failing := key
			if test.phase == "teardown" {
				failing = "c[x=3]" // all have run; the last one answers for the launch
			}
			f := failure(t, doc, failing)
			if f.Rank != 1 || f.Phase != test.phase || !strings.Contains(f.Cause, test.cause) {
				t.Errorf("got %+v\nwant rank 1, phase %s, cause %s", f, test.phase, test.cause)
			}
			action, _, _ := strings.Cut(test.fault, " ")
			if log := strings.Join(f.Log, "\n"); !strings.Contains(log, "rank 1: "+action) {
				t.Errorf("the log's last lines are not those of rank 1: %q", f.Log)
			}
			first := doc.Case("c[x=1]")
			if before := test.phase == "ready" || test.phase == "connect"; before != (first.Status == results.Error) {
				t.Errorf("the case before the failing one is %s (%s)", first.Status, first.Reason)
			}
		})
	}
}

// TestFailureIsOneCasesOwn: cases before the failed one keep their results, later ones run in the next launch, and
// the failed one is not repeated.
func TestFailureIsOneCasesOwn(t *testing.T) {
	b := newBench(t)
	var cases []*planner.Case
	for _, k := range []string{"c[x=1]", "c[x=2]", "c[x=3]"} {
		cases = append(cases, aCase(k, env(faultEnv, "kill run 0 c[x=2]")))
	}
	doc := b.run(aPlan(cases, aGroup("g", cases, 2)))
	for key, want := range map[string]struct {
		status   string
		launches []int
	}{
		"c[x=1]": {results.OK, []int{0, 1}},
		"c[x=2]": {results.Error, []int{0}},
		"c[x=3]": {results.OK, []int{1, 2}},
	} {
		c := doc.Case(key)
		var got []int
		for _, l := range c.Launches {
			got = append(got, l.Index)
		}
		if c.Status != want.status || len(got) != len(want.launches) || got[0] != want.launches[0] {
			t.Errorf("%s is %s with launches %v, want %s with %v", key, c.Status, got, want.status, want.launches)
		}
	}
}

func TestGroupIsGivenUpAfterTwoFailures(t *testing.T) {
	b := newBench(t)
	var cases []*planner.Case
	for _, k := range []string{"c[x=1]", "c[x=2]", "c[x=3]"} {
		cases = append(cases, aCase(k, env(faultEnv, "kill run 0")))
	}
	doc := b.run(aPlan(cases, aGroup("g", cases, 3)))
	if got := b.launches(); got != "g0 g1" {
		t.Errorf("launches %s", got)
	}
	last := doc.Case("c[x=3]")
	if last.Status != results.Error || len(last.Launches) != 0 ||
		!strings.Contains(last.Reason, "2 launches of its group failed") {
		t.Errorf("%s: %s", last.Status, last.Reason)
	}
}

// TestStalledRankIsFoundBeforeItsDeadline with a case that could run for a minute.
func TestStalledRankIsFoundBeforeItsDeadline(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	c := aCase("c", env(faultEnv, "hang run 1"), timeout(time.Minute))
	doc := b.run(onePlan(c), func(o *Options) { o.Deadlines.Stall = 1200 * time.Millisecond })
	f := failure(t, doc, "c")
	if f.Rank != 1 || f.Phase != "run" || !strings.Contains(f.Cause, "at iteration 10 of 20") {
		t.Errorf("got %+v", f)
	}
	if took := b.silence(); took > 20*time.Second {
		t.Errorf("found after %v", took)
	}
}

// TestSlowCaseIsNoRanksFailure: both ranks move, but miss the deadline.
func TestSlowCaseIsNoRanksFailure(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	c := aCase("c", env(stepEnv, "100ms"), withOption("iterations", int64(100)), timeout(2*time.Second))
	f := failure(t, b.run(onePlan(c)), "c")
	if f.Rank != -1 || !strings.Contains(f.Cause, "2 ranks did not finish within") {
		t.Errorf("got %+v", f)
	}
}

func TestRankThatCannotBeStarted(t *testing.T) {
	b := newBench(t)
	doc := b.run(onePlan(aCase("c")), func(o *Options) { o.RankCommand = []string{"/nonexistent/weir", "rank"} })
	f := failure(t, doc, "c")
	if f.Phase != "ready" || !strings.Contains(f.Cause, "/nonexistent/weir") {
		t.Errorf("got %+v", f)
	}
}

// TestFailureOnOneNodeEndsTheOthers, and the node with the root cause is named.
func TestFailureOnOneNodeEndsTheOthers(t *testing.T) {
	b := newBench(t)
	c := aCase("c", env(faultEnv, "kill run 1"), withOption("fabric", "tcp"),
		func(c *planner.Case) { c.Place.Nodes = 2 })
	doc := b.run(onePlan(c), func(o *Options) { o.Nodes = []string{"n1", "n2"} })
	f := failure(t, doc, "c")
	if f.Rank != 1 || f.Node != "n2" || !strings.Contains(f.Cause, "SIGKILL") {
		t.Errorf("got %+v", f)
	}
	if took := b.silence(); took > 20*time.Second { // the case may take longer
		t.Errorf("took %v", took)
	}
}

// TestRankThatNeverConnects keeps the ranks of the other node at the barrier.
func TestRankThatNeverConnects(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	c := aCase("c", env(faultEnv, "slow connected 1"), withOption("fabric", "tcp"),
		func(c *planner.Case) { c.Place.Nodes = 2 })
	doc := b.run(onePlan(c), func(o *Options) {
		o.Nodes = []string{"n1", "n2"}
		o.Deadlines.Connect = 3 * time.Second
	})
	f := failure(t, doc, "c")
	if f.Rank != 1 || f.Node != "n2" || f.Phase != "connect" || f.Cause != "did not connect within 3s" {
		t.Errorf("got %+v", f)
	}
}

func TestMetricThatIsNotFiniteIsAnError(t *testing.T) {
	b := newBench(t)
	doc := b.run(onePlan(aCase("c")), func(o *Options) { o.reduce = badMetric })
	f := failure(t, doc, "c")
	if f.Phase != "evaluate" || !strings.Contains(f.Cause, "bandwidth is NaN") {
		t.Errorf("got %+v", f)
	}
	if l := doc.Case("c").Launches[0]; len(l.Samples) != 1 {
		t.Errorf("the samples that were measured are not kept: %v", l.Samples)
	}
}
