package executor

import (
	"fmt"
	"slices"

	"weir/engine"
	"weir/executor/fleet"
	"weir/executor/ledger"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// wanted is how many nodes the plan needs.
func (s *session) wanted() int {
	need := max(s.plan.Cluster.Nodes, 1)
	for _, c := range s.plan.Cases {
		need = max(need, c.Place.Nodes)
	}
	return need
}

// nodesOf is how many the group's launches need at most, with those of their load.
func nodesOf(g *ledger.Group) int {
	need := 1
	for _, part := range append([]*ledger.Group{g}, g.Load...) {
		for _, c := range part.Wanted {
			need = max(need, c.Place.Nodes)
		}
	}
	return need
}

// runsCommands says whether a plan has commands for nodes.
func runsCommands(p *planner.Plan) bool {
	if len(p.Checks)+len(p.Setup)+len(p.Teardown)+len(p.Artifacts) > 0 {
		return true
	}
	for _, r := range p.Runs {
		if len(r.Setup)+len(r.Teardown)+len(r.LaunchSetup)+len(r.LaunchTeardown) > 0 {
			return true
		}
	}
	return false
}

// runsPrograms says whether ranks or services of the plan are programs that its scenario names.
func (s *session) runsPrograms() bool {
	return slices.ContainsFunc(s.plan.Cases, func(c *planner.Case) bool {
		d, err := s.demandOf(c)
		return err == nil && (engine.RunsCommands(d.Runner) ||
			slices.ContainsFunc(d.Services, func(s workload.Service) bool { return s.Cluster == nil }))
	})
}

// fleetNeeds is what the plan asks of agents.
func (s *session) fleetNeeds() fleet.Needs {
	c := s.plan.Cluster
	n := fleet.Needs{
		Nodes: s.wanted(), Labels: c.Labels, NodeGPUs: c.GPUsPerNode, Exclusive: c.Exclusive,
		DistinctHosts: c.DistinctHosts,
		Commands:      runsCommands(s.plan) || s.runsPrograms(), Threads: s.threadsPerNode(),
	}
	for _, c := range s.plan.Cases {
		needs, err := s.demandOf(c)
		if err != nil || !s.backendOf(c).processes() {
			continue
		}
		d := s.demand(c, needs)
		n.GPUs = n.GPUs || d.NodeGPUs+d.Each.GPUs > 0
		n.NICs = n.NICs || d.Each.NICs > 0
	}
	return n
}

// threadsPerNode is how many processors of a node a launch can keep busy at most, with
// the background load that may run beside it.
func (s *session) threadsPerNode() int {
	return s.perNode(func(d workload.Demand) int { return d.Threads })
}

// crowded says that launches may have more threads than a node has processors, "" if they may not.
func (s *session) crowded(n results.Node) string {
	threads, cpus := s.threadsPerNode(), n.CPU.Allowed
	if limit := n.CPU.Usable(); limit < float64(min(cpus, threads)) {
		return fmt.Sprintf("its CPU limit is %.2g of %d processors, and launches have up to %d threads of ranks: they will be throttled",
			limit, cpus, threads)
	}
	if cpus == 0 || threads <= cpus {
		return ""
	}
	processors := "processors"
	if cpus == 1 {
		processors = "processor"
	}
	return fmt.Sprintf("launches have up to %d threads of ranks for its %d %s: they take turns, and nothing tells "+
		"whether others disturb them", threads, cpus, processors)
}

// busy says that others use the processors which a node's launches need, "" if they have enough: launches that are
// disturbed will be discarded.
func (s *session) busy(n results.Node) string {
	if n.CPU.Allowed == 0 || n.Running == 0 || s.o.Disturbed == KeepDisturbed ||
		n.Load+float64(s.threadsPerNode()) <= n.CPU.Usable()+1 {
		return ""
	}
	return fmt.Sprintf("load %.2g on %d processors: launches will probably be disturbed and discarded (--disturbed keep counts them)",
		n.Load, n.CPU.Allowed)
}

// perNode is the most that there is of something at a time on a node of which each rank
// has so many.
func (s *session) perNode(of func(workload.Demand) int) int {
	alone, beside := 1, 0
	for _, g := range s.ledger.Groups {
		most := 0
		for _, c := range g.Wanted {
			d, err := s.demandOf(c)
			if err != nil || !s.backendOf(c).processes() {
				continue
			}
			nodes := max(c.Place.Nodes, 1)
			most = max(most, (d.Ranks+nodes-1)/nodes*of(d))
		}
		if g.Background() {
			beside += most
		} else {
			alone = max(alone, most)
		}
	}
	return alone + beside
}
