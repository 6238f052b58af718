package executor

import (
	"testing"

	_ "github.com/weir-bench/weir/engine/command"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// Sessions that need dedicated devices of one kind do not share a node: each would give the first device to its
// first rank.
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
		c.Workload, c.Options = "command", option.Values{"roles": `{"a":{"command":["x"]}}`}
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

// A node with fewer processors than launches have threads is reported before the first launch.
func TestOversubscribedNodesAreReported(t *testing.T) {
	s := newSession(onePlan(aCase("a"), aCase("b", withOption("threads", int64(2)))), Options{})
	if threads := s.threadsPerNode(); threads != 4 {
		t.Fatalf("two ranks of two threads are %d", threads)
	}
	for cpus, want := range map[int]string{
		0: "", 4: "", 8: "",
		1: "launches have up to 4 threads of ranks, but the node has 1 CPUs: threads share them, and " +
			"disturbance by other processes cannot be detected",
		3: "launches have up to 4 threads of ranks, but the node has 3 CPUs: threads share them, and " +
			"disturbance by other processes cannot be detected",
	} {
		if got := s.oversubscribed(results.Node{CPU: results.CPU{Allowed: cpus}}); got != want {
			t.Errorf("%d processors: %q", cpus, got)
		}
	}
}
