// This file derives placement demands from cases, and bindings to dedicated resources for agents.

package executor

import (
	"slices"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

func (s *session) demand(c *planner.Case, needs workload.Demand) placement.Demand {
	d := placement.Demand{
		Nodes: max(1, c.Place.Nodes), DistinctHosts: c.Place.DistinctHosts, Labels: c.Place.Labels,
		NodeGPUs: s.plan.Cluster.GPUsPerNode, Node: s.requirements(),
		Fabric: needs.Fabric, Ranks: needs.Ranks, Threads: needs.Threads, On: needs.On,
		Own:  needs.Own,
		Each: placement.Share{GPUs: c.Place.GPUsPerRank, NICs: c.Place.NICsPerRank, CPUs: c.Place.CPUsPerRank},
	}
	if needs.Fabric == fabric.AutoName {
		d.Fabric = ""
	}
	if needs.GPU {
		d.NodeGPUs = max(d.NodeGPUs, 1)
	}
	if engine.RunsCommands(needs.Runner) {
		d.Threads = 0 // the number of threads of a program is unknown
	}
	d.Affine = d.Each != placement.Share{} || d.Own != nil
	return d
}

func (l *launchRun) bindingsOf(ranks []int) (list []results.Binding) {
	if len(l.bindings) > 0 {
		for _, r := range ranks {
			list = append(list, l.bindings[r])
		}
	}
	return list
}

// needsOwnCPUs reports whether a launch of a group needs dedicated processors, because something that runs at
// the same time has dedicated resources.
func (s *session) needsOwnCPUs(g *ledger.Group, concurrent []*launchRun, held map[string][]results.Binding) bool {
	if len(held) > 0 {
		return true
	}
	asks := func(g *ledger.Group) bool {
		return slices.ContainsFunc(g.Wanted, func(c *planner.Case) bool {
			return c.Place.GPUsPerRank+c.Place.NICsPerRank+c.Place.CPUsPerRank > 0
		})
	}
	return slices.ContainsFunc(g.Load, asks) ||
		slices.ContainsFunc(concurrent, func(l *launchRun) bool { return len(l.bindings) > 0 })
}

// withoutVariables removes devices from a binding that variables of the scenario or the shell select.
func withoutVariables(s *results.Binding, others ...map[string]string) {
	set := func(name string) bool {
		return slices.ContainsFunc(others, func(env map[string]string) bool { _, ok := env[name]; return ok })
	}
	if set("CUDA_VISIBLE_DEVICES") {
		s.GPUs = nil
	}
	for _, env := range others {
		for name := range env {
			if fabric.ChoosesDevices(name) {
				s.NICs = nil
			}
		}
	}
}
