package executor

import (
	"fmt"
	"strings"
	"testing"

	_ "weir/engine/command"
	"weir/executor/cluster"
	"weir/executor/daemon"
	"weir/planner"
	"weir/workload"
)

// An agent that runs no commands is of no use to a plan whose ranks are programs.
func TestProgramsNeedAgentsThatRunCommands(t *testing.T) {
	programs := aCase("c", func(c *planner.Case) {
		c.Workload, c.Options = "command", workload.Values{"roles": `{"a":{"command":["x"]}}`}
	})
	for _, k := range []struct {
		plan     *planner.Plan
		commands bool
		useless  bool
	}{{onePlan(aCase("plain")), false, false}, {onePlan(aCase("plain"), programs), false, true}, {onePlan(programs), true, false}} {
		why := newSession(k.plan, Options{}).useless(daemon.About{Node: "n", Commands: k.commands})
		if k.useless != strings.Contains(why, "--allow-commands") || why != "" && !k.useless {
			t.Errorf("with commands %v: %q", k.commands, why)
		}
	}
}

// Sessions that want devices of one kind to themselves do not have a node at the same
// time: each would deal the first of them to its first rank.
func TestDevicesAreClaimed(t *testing.T) {
	node := daemon.About{Node: "n", GPUs: 2}
	for _, k := range []struct {
		change func(*planner.Case)
		gpus   int // of the cluster's each
		want   cluster.Claim
	}{
		{func(*planner.Case) {}, 0, cluster.Claim{}},
		{func(c *planner.Case) { c.Place.CPUsPerRank = 1 }, 0, cluster.Claim{}},
		{func(c *planner.Case) { c.Place.GPUsPerRank = 1 }, 0, cluster.Claim{GPUs: []int{0, 1}}},
		{func(c *planner.Case) { c.Place.NICsPerRank = 1 }, 0, cluster.Claim{NICs: []string{"*"}}},
		{func(*planner.Case) {}, 1, cluster.Claim{GPUs: []int{0, 1}}},
		{func(c *planner.Case) { c.Place.GPUsPerRank, c.Options["fabric"] = 1, "sim" }, 0, cluster.Claim{}},
	} {
		p := onePlan(aCase("plain"), aCase("c", k.change))
		p.Cluster.GPUsPerNode = k.gpus
		var got cluster.Claim
		got.GPUs, got.NICs = newSession(p, Options{}).devices(node)
		if fmt.Sprint(got) != fmt.Sprint(k.want) {
			t.Errorf("%+v and %d GPUs claim %+v, want %+v", p.Cases[1].Place, k.gpus, got, k.want)
		}
	}
}
