package executor

import (
	"testing"

	_ "weir/engine/command"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// Sessions that want devices of one kind to themselves do not have a node at the same
// time: each would give the first of them to its first rank.
func TestDevicesAreClaimed(t *testing.T) {
	for _, k := range []struct {
		change func(*planner.Case)
		gpus   int // of the cluster's each
		want   string
	}{
		{func(*planner.Case) {}, 0, ""},
		{func(c *planner.Case) { c.Place.CPUsPerRank = 1 }, 0, ""},
		{func(c *planner.Case) { c.Place.GPUsPerRank = 1 }, 0, "GPUs"},
		{func(c *planner.Case) { c.Place.NICsPerRank = 1 }, 0, "NICs"},
		{func(*planner.Case) {}, 1, "GPUs"},
		{func(c *planner.Case) { c.Place.GPUsPerRank, c.Options["fabric"] = 1, "sim" }, 0, ""},
	} {
		p := onePlan(aCase("plain"), aCase("c", k.change))
		p.Cluster.GPUsPerNode = k.gpus
		got, needs := "", newSession(p, Options{}).fleetNeeds()
		if needs.GPUs {
			got += "GPUs"
		}
		if needs.NICs {
			got += "NICs"
		}
		if got != k.want {
			t.Errorf("%+v and %d GPUs claim %q, want %q", p.Cases[1].Place, k.gpus, got, k.want)
		}
	}
}

// Agents must run commands if ranks of the plan are programs that it names.
func TestProgramsNeedAgentsThatRunCommands(t *testing.T) {
	programs := aCase("c", func(c *planner.Case) {
		c.Workload, c.Options = "command", workload.Values{"roles": `{"a":{"command":["x"]}}`}
	})
	for _, k := range []struct {
		plan *planner.Plan
		want bool
	}{{onePlan(aCase("plain")), false}, {onePlan(aCase("plain"), programs), true}} {
		if got := newSession(k.plan, Options{}).fleetNeeds().Commands; got != k.want {
			t.Errorf("%d cases: %v", len(k.plan.Cases), got)
		}
	}
}

// A node with fewer processors than launches may have threads is told before the first of them.
func TestCrowdedNodesAreTold(t *testing.T) {
	s := newSession(onePlan(aCase("a"), aCase("b", option("threads", int64(2)))), Options{})
	if threads := s.threadsPerNode(); threads != 4 {
		t.Fatalf("two ranks of two threads are %d", threads)
	}
	for cpus, want := range map[int]string{
		0: "", 4: "", 8: "",
		1: "launches have up to 4 threads of ranks for its 1 processor: they take turns, and nothing tells whether " +
			"others disturb them",
		3: "launches have up to 4 threads of ranks for its 3 processors: they take turns, and nothing tells whether " +
			"others disturb them",
	} {
		if got := s.crowded(results.Node{CPU: results.CPU{Allowed: cpus}}); got != want {
			t.Errorf("%d processors: %q", cpus, got)
		}
	}
}
