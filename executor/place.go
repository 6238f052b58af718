package executor

import (
	"slices"

	"weir/engine"
	"weir/executor/ledger"
	"weir/executor/placement"
	"weir/fabric"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// demand is what launches of a case ask of nodes.
func (s *session) demand(c *planner.Case, needs workload.Demand) placement.Demand {
	d := placement.Demand{
		Nodes: max(1, c.Place.Nodes), DistinctHosts: c.Place.DistinctHosts, Labels: c.Place.Labels,
		NodeGPUs: s.plan.Cluster.GPUsPerNode,
		Fabric:   needs.Fabric, Ranks: needs.Ranks, Threads: needs.Threads, On: needs.On,
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
		d.Threads = 0 // programs have as many as they like
	}
	d.Affine = d.Each != placement.Share{} || d.Own != nil
	return d
}

// seatsOf are the seats of some ranks.
func (l *launched) seatsOf(ranks []int) []results.Seat {
	var list []results.Seat
	for _, r := range ranks {
		if len(l.seats) > 0 {
			list = append(list, l.seats[r])
		}
	}
	return list
}

// affine says whether something of what runs at the same time as a group has resources
// to itself: then all of it has processors of its own, so that nothing gets those of another.
func (s *session) affine(g *ledger.Group, beside []*launched, held map[string][]results.Seat) bool {
	if len(held) > 0 {
		return true
	}
	asks := func(g *ledger.Group) bool {
		return slices.ContainsFunc(g.Wanted, func(c *planner.Case) bool {
			return c.Place.GPUsPerRank+c.Place.NICsPerRank+c.Place.CPUsPerRank > 0
		})
	}
	return slices.ContainsFunc(g.Load, asks) ||
		slices.ContainsFunc(beside, func(l *launched) bool { return len(l.seats) > 0 })
}

// withoutVariables takes out of a seat what the scenario or the shell gives the rank itself: that is
// no part of the seat.
func withoutVariables(s *results.Seat, others ...map[string]string) {
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
