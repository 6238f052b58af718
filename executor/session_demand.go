// This file derives from the plan what a session needs of nodes and agents; session_admit.go comes next.

package executor

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

func (s *session) nodesNeeded() int {
	need := max(s.plan.Cluster.Nodes, 1)
	for _, c := range s.plan.Cases {
		need = max(need, c.Place.Nodes)
	}
	return need
}

// groupNodesNeeded is the number of nodes that the group's launches and their background load need.
func groupNodesNeeded(g *ledger.Group) int {
	need := 1
	for _, part := range append([]*ledger.Group{g}, g.Load...) {
		for _, c := range part.Wanted {
			need = max(need, c.Place.Nodes)
		}
	}
	return need
}

// runsCommands reports whether a plan has commands or artifacts, which nodes run or send.
func runsCommands(p *planner.Plan) bool {
	if len(p.Setup)+len(p.Teardown)+len(p.Artifacts) > 0 ||
		slices.ContainsFunc(p.Checks, func(c planner.Check) bool { return len(c.Command) > 0 }) {
		return true
	}
	for _, r := range p.Runs {
		if len(r.Setup)+len(r.Teardown)+len(r.LaunchSetup)+len(r.LaunchTeardown) > 0 {
			return true
		}
	}
	return false
}

func (s *session) runsPrograms() bool {
	return slices.ContainsFunc(s.plan.Cases, func(c *planner.Case) bool {
		d, err := s.demandOf(c)
		return err == nil && (engine.RunsCommands(d.Runner) ||
			slices.ContainsFunc(d.Services, func(s workload.Service) bool { return s.Cluster == nil }))
	})
}

func (s *session) fleetNeeds() fleet.Needs {
	c := s.plan.Cluster
	n := fleet.Needs{
		Nodes: s.nodesNeeded(), Labels: c.Labels, NodeGPUs: c.GPUsPerNode, Exclusive: c.Exclusive,
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

// threadsPerNode is the largest number of busy threads on a node, in a launch with its background load.
func (s *session) threadsPerNode() int {
	return s.mostPerNode(func(d workload.Demand) int { return d.Threads })
}

// oversubscribed warns that launches have more threads than a node has processors; "": they have not.
func (s *session) oversubscribed(n results.Node) string {
	threads, cpus := s.threadsPerNode(), n.CPU.Allowed
	if limit := n.CPU.Usable(); limit < float64(min(cpus, threads)) {
		return fmt.Sprintf("its CPU limit is %.2g of %d processors, and launches have up to %d threads of ranks: they will be throttled",
			limit, cpus, threads)
	}
	if cpus == 0 || threads <= cpus {
		return ""
	}
	return fmt.Sprintf("launches have up to %d threads of ranks, but the node has %d CPUs: threads share them, and "+
		"disturbance by other processes cannot be detected", threads, cpus)
}

// busyWarning warns that other processes use processors which a node's launches need; "": enough are idle.
func (s *session) busyWarning(n results.Node) string {
	if n.CPU.Allowed == 0 || n.Running == 0 || s.o.Disturbed == KeepDisturbed ||
		n.Load+float64(s.threadsPerNode()) <= n.CPU.Usable()+1 {
		return ""
	}
	return fmt.Sprintf("load %.2g on %d CPUs: launches will probably be disturbed and discarded (--disturbed keep counts them)",
		n.Load, n.CPU.Allowed)
}

// mostPerNode is the largest sum of a per-rank amount over the ranks that run on a node at a time.
func (s *session) mostPerNode(of func(workload.Demand) int) int {
	foreground, background := 1, 0
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
			background += most
		} else {
			foreground = max(foreground, most)
		}
	}
	return foreground + background
}
