package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// underLoad is a plan of a case that is measured while another runs.
func underLoad(fore, back *planner.Case, looks ...int) *planner.Plan {
	f, b := []*planner.Case{fore}, []*planner.Case{back}
	g := aGroup("B", b, 3, 5)
	g.During = []string{"F"}
	return aPlan(slices.Concat(f, b), aGroup("F", f, looks...), g)
}

func steps(iterations int64, step string) func(*planner.Case) {
	return func(c *planner.Case) {
		c.Options["iterations"] = iterations
		c.Env[stepEnv] = step
		c.Timeout = 60
	}
}

// TestLoadIsStoppedWithItsForeground: a load that would run for minutes has no complete launch of its own, and has
// not failed.
func TestLoadIsStoppedWithItsForeground(t *testing.T) {
	b := newBench(t)
	doc := b.run(underLoad(aCase("fore", steps(20, "5ms")), aCase("back", steps(1000000, "1ms")), 2))
	c := doc.Case("fore")
	if c.Status != results.OK || len(c.Launches) != 2 {
		t.Fatalf("fore is %s after %d launches: %s", c.Status, len(c.Launches), c.Reason)
	}
	for _, l := range c.Launches {
		if l.Load == nil || *l.Load < 0.99 {
			t.Errorf("load %v", l.Load)
		}
	}
	back := doc.Case("back")
	if back.Status != results.Skipped || len(back.Launches) != 0 || !back.NotReached() ||
		!strings.Contains(back.Reason, "background load only") {
		t.Errorf("back is %s after %d launches: %s", back.Status, len(back.Launches), back.Reason)
	}
	if doc.Session.ExitCode != 0 {
		t.Errorf("session %+v", doc.Session)
	}
	if got := b.launches(); got != "F0 F1" {
		t.Errorf("launches %s", got)
	}
}

// TestLoadGoesOnInTheSameProcesses after it has run all its cases, and its first results count for its own case
// although it is stopped.
func TestLoadGoesOnInTheSameProcesses(t *testing.T) {
	b := newBench(t)
	doc := b.run(underLoad(aCase("fore", steps(100, "10ms")), aCase("back", steps(10, "10ms"))))
	back := doc.Case("back")
	if back.Status != results.OK || len(back.Launches) != 1 || back.Launches[0].Metrics.At("bandwidth") <= 0 {
		t.Fatalf("back is %s after %d launches: %s", back.Status, len(back.Launches), back.Reason)
	}
	if l := doc.Case("fore").Launches[0]; l.Status != results.OK || l.Load == nil || *l.Load < 0.99 {
		t.Errorf("foreground %+v", l)
	}
	if got := b.launches(); got != "F0" {
		t.Errorf("launches %s", got)
	}
}

// TestLoadThatEndsIsLaunchedAgain, and its results count for its own case.
func TestLoadThatEndsIsLaunchedAgain(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	most := mostLoadCases
	mostLoadCases = 10 // of 50 ms
	defer func() { mostLoadCases = most }()
	doc := b.run(underLoad(aCase("fore", steps(400, "10ms")), aCase("back", steps(10, "5ms"))))
	back := doc.Case("back")
	if back.Status != results.OK || len(back.Launches) < 2 {
		t.Fatalf("back is %s after %d launches: %s", back.Status, len(back.Launches), back.Reason)
	}
	for i, l := range back.Launches {
		if l.Index != i || l.Metrics.At("bandwidth") <= 0 || len(l.Samples) != 1 {
			t.Errorf("background launch %d: %+v", i, l)
		}
	}
	records, err := ledger.ReadJournal(filepath.Join(b.dir, "session", ledger.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Launch != nil && (r.Launch.Group != "F" || len(r.Launch.Background) != len(back.Launches)) {
			t.Errorf("journal has launch %+v", r.Launch)
		}
	}
}

func TestTooLittleLoadIsAnError(t *testing.T) {
	begin := time.Now()
	l := &load{
		members: []*loadMember{
			{
				periods: []period{
					{begin.Add(-time.Second), begin.Add(2 * time.Second)},
					{begin.Add(3 * time.Second), begin.Add(9 * time.Second)},
				},
			},
		},
	}
	e := &results.Launch{Started: begin, Duration: 10}
	f := l.checkCoverage(e, begin)
	const want = "background load was running only 80 % of the time, 90 % are needed: raise the iterations of its run"
	if f == nil || f.Kind != results.Wrong || !strings.HasPrefix(f.Cause, want) || e.Load == nil || *e.Load != 0.8 {
		t.Errorf("failure %+v, load %v", f, e.Load)
	}
	e.Started, e.Duration = begin.Add(-time.Hour), 6 // the time of day was set
	if f := l.checkCoverage(e, begin.Add(3*time.Second)); f != nil || *e.Load != 1 {
		t.Errorf("failure %+v, load %v", f, *e.Load)
	}
}

func TestLoadThatFailsFailsItsForeground(t *testing.T) {
	for fault, want := range map[string]struct{ kind, cause string }{
		"kill run 1": {results.Crashed, "background load B, launch 1, failed: rank 1 on %, phase run: killed by signal 9"},
		"error ready 1": {results.FailedReady,
			"background load B, launch 1, failed: rank 1 on %, phase ready: test: put: the card is on fire"},
		"error connect 0": {results.FailedLink,
			"background load B, launch 1, failed: rank 0 on %, phase connect: test: put: the card is on fire"},
	} {
		t.Run(strings.ReplaceAll(fault, " ", "_"), func(t *testing.T) {
			b := newBench(t)
			p := underLoad(aCase("fore", steps(1000, "10ms")), aCase("back", steps(100, "5ms"), env(faultEnv, fault)))
			begin := time.Now()
			doc := b.run(p)
			f := failure(t, doc, "fore")
			if f.Rank != -1 || f.Kind != want.kind ||
				!strings.HasPrefix(f.Cause, strings.ReplaceAll(want.cause, "%", doc.Environment.Nodes[0].Name)) {
				t.Errorf("failure %+v", f)
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestLoadThatFailedIsRetriedWithItsForeground(t *testing.T) {
	b := newBench(t)
	back := aCase("back", steps(1000000, "1ms"), env(faultEnv, "kill ready 1"))
	p := underLoad(aCase("fore"), back)
	p.Runs = []*planner.Run{{Name: "fore", Retry: &planner.Retry{Times: 1, On: []string{results.Crashed}}}}
	doc := b.run(p)
	if got := launchesOf(doc.Case("fore")); got != "0:retried 1:error" {
		t.Errorf("launches %s", got)
	}
}

// TestRanksOfLoadAndForegroundHaveDistinctCPUs where there are enough of them.
func TestRanksOfLoadAndForegroundHaveDistinctCPUs(t *testing.T) {
	mk := func(nodes ...string) *launchRun {
		l := &launchRun{}
		l.engine.Nodes = nodes
		return l
	}
	fore, one, two := mk("n1", "n2"), mk("n1", "n1"), mk("n2", "n1")
	fore.engine.Threads, one.engine.Threads, two.engine.Threads = 1, 3, 1
	shareCPUs([]*launchRun{fore, one, two}, func(node string) string { return node })
	for i, test := range []struct {
		l              *launchRun
		node           string
		first, threads int
	}{{fore, "n1", 0, 8}, {fore, "n2", 0, 2}, {one, "n1", 1, 8}, {two, "n1", 7, 8}, {two, "n2", 1, 2}} {
		if c := test.l.cpus[test.node]; c.First != test.first || c.Threads != test.threads {
			t.Errorf("%d: %+v, want %d of %d", i, c, test.first, test.threads)
		}
	}
}

func TestCancelUnderLoad(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	var at time.Time
	o := b.options()
	o.Events = func(e event.Event) {
		if e.Type == event.CaseProgress && e.Case == "fore" && at.IsZero() {
			at = time.Now()
			cancel(signalled{})
		}
	}
	doc, err := Run(ctx, underLoad(aCase("fore", steps(1000000, "1ms")), aCase("back", steps(1000000, "1ms"))), o)
	if took := time.Since(at); !errors.Is(err, signalled{}) || took > 20*time.Second {
		t.Errorf("took %v: %v", took, err)
	}
	if c := doc.Case("fore"); c.Status != results.Skipped || len(c.Launches) != 0 {
		t.Errorf("fore is %s: %s", c.Status, c.Reason)
	}
}

func TestCommandsOfTheLoadsRun(t *testing.T) {
	b := newBench(t)
	p := underLoad(aCase("fore"), aCase("back", steps(1000000, "1ms")))
	p.Runs = []*planner.Run{{
		Name: "back", Setup: []planner.Command{b.noting("up")}, Teardown: []planner.Command{b.noting("down")},
		LaunchSetup:    []planner.Command{b.noting("launch-up")},
		LaunchTeardown: []planner.Command{b.noting("launch-down")},
	}}
	if c := b.run(p).Case("fore"); c.Status != results.OK {
		t.Errorf("fore is %s: %s", c.Status, c.Reason)
	}
	if got := b.noted(); got != "up launch-up launch-down down" {
		t.Errorf("ran %s", got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "session", "logs", "B", "0", "1.log")); err != nil {
		t.Error(err)
	}
}

// A case that was not measured because its load failed is no skipped case: no assertion over several cases may
// hold without it.
func TestLoadWhoseSetupFailsLeavesItsForegroundUnreached(t *testing.T) {
	b := newBench(t)
	p := underLoad(aCase("fore"), aCase("back"))
	p.Runs = []*planner.Run{{Name: "back", Setup: []planner.Command{shell("mount", "exit 32")}}}
	c := b.run(p).Case("fore")
	if !c.NotReached() || !strings.HasPrefix(c.Reason,
		`not run: its background load B does not run: setup "mount" failed`) {
		t.Errorf("fore is %s: %s", c.Status, c.Reason)
	}
}
