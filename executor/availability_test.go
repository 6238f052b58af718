package executor

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload"
)

// counted by an assertion of its own, whatever that asks.
func available(c *planner.Case) {
	c.Assertions = []assertion.Assertion{{
		Name: "available", Severity: assertion.Gate,
		Subject: &assertion.Expr{Op: assertion.Metric, Metric: workload.Availability.Name},
	}}
}

// A case with an assertion that counts failed launches has all of its launches; another one is not launched again
// after a failure, and given up with its group after two.
func TestFailuresThatAreCountedEndNothing(t *testing.T) {
	phase.Long(t)
	for name, test := range map[string]struct {
		change func(*planner.Case)
		fails  string // launches
		want   string
		status string
	}{
		"asked":                  {available, "0,2,3", "0:error 1:ok 2:error 3:error 4:ok", results.OK},
		"asked, the last failed": {available, "4", "0:ok 1:ok 2:ok 3:ok 4:error", results.OK},
		"asked, all failed":      {available, "", "0:error 1:error 2:error 3:error 4:error", results.OK},
		"not asked":              {func(*planner.Case) {}, "1,2", "0:ok 1:error", results.Error},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			change := []func(*planner.Case){env(faultEnv, "kill run 1"), test.change}
			if test.fails != "" {
				change = append(change, env(faultLaunchesEnv, test.fails))
			}
			cases := []*planner.Case{aCase("c", change...)}
			doc := b.run(aPlan(cases, aGroup("g", cases, 5)))
			c := doc.Case("c")
			if got := launchesOf(c); got != test.want || c.Status != test.status {
				t.Errorf("%s (%s): %s, want %s", c.Status, c.Reason, got, test.want)
			}
		})
	}
}

// Another case of the same group keeps its rule, and an assertion of another run counts as one of the case's own.
func TestOtherCasesOfAFailingGroup(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	fails := []func(*planner.Case){env(faultEnv, "kill run 1 r[b]")}
	cases := []*planner.Case{aCase("r[a]", fails...), aCase("r[b]", fails...)}
	p := aPlan(cases, aGroup("g", cases, 4))
	p.Assertions = []assertion.Assertion{{
		Name: "of another run", Severity: assertion.Gate, Cases: []string{"r[b]"},
		Subject: &assertion.Expr{Op: assertion.Metric, Metric: workload.Availability.Name, Case: "r[b]"},
	}}
	doc := b.run(p)
	if a, c := doc.Case("r[a]"), doc.Case("r[b]"); launchesOf(a) != "0:ok 1:ok 2:ok 3:ok" ||
		launchesOf(c) != "0:error 1:error 2:error 3:error" {
		t.Errorf("r[a] %s (%s), r[b] %s (%s)", launchesOf(a), a.Reason, launchesOf(c), c.Reason)
	}
}

// A resumed session continues to count.
func TestCountedFailuresAreResumed(t *testing.T) {
	plan := func() *planner.Plan {
		cases := []*planner.Case{aCase("c", env(faultEnv, "kill run 1"), env(faultLaunchesEnv, "0,3"), available)}
		return aPlan(cases, aGroup("g", cases, 5))
	}
	b := newBench(t)
	if _, was := b.interrupted(plan(), "c", 2); !was {
		t.Fatal("it was not interrupted")
	}
	doc := b.run(plan(), func(o *Options) { o.Resume = true })
	c := doc.Case("c")
	if got, want := launchesOf(c), "0:error 1:ok 2:ok 3:error 4:ok"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !c.Launches[0].Resumed || slices.ContainsFunc(c.Launches[2:],
		func(l *results.Launch) bool { return l.Resumed }) {
		t.Error("which launches were taken over")
	}
}
