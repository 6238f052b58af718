package executor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"weir/engine"
	"weir/fabric"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// nodes are the members' inventories, by name.
func (s *session) nodes() []results.Node {
	var list []results.Node
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		n := s.members[name].Node
		n.Labels = s.members[name].Labels
		list = append(list, n)
	}
	return list
}

// fabrics are those that the agents must probe for: the ones that planned cases
// use or ask for, or all (none named) if a condition may ask for any. Loading a
// vendor's library can take long, so nobody waits for one that nothing uses.
func (s *session) fabrics() []string {
	set := map[string]bool{}
	for _, c := range s.plan.Cases {
		if c.Status != planner.Planned {
			continue
		}
		if c.When != "" {
			if s.o.Fabrics == nil {
				return nil
			}
			names, ok := s.o.Fabrics(c)
			if !ok {
				return nil
			}
			for _, f := range names {
				set[f] = true
			}
		}
		if simulated(c) {
			continue
		}
		d, err := s.demandOf(c)
		if err != nil {
			continue // admit says so
		}
		for _, f := range fabric.Candidates(d, max(c.Place.Nodes, s.plan.Cluster.Nodes)) {
			set[f] = true
		}
	}
	for f := range engine.SimulatedFabrics() { // no host has them
		delete(set, f)
	}
	if len(set) == 0 {
		set[fabric.Names()[0]] = true // to name none would ask for all
	}
	return slices.Sorted(maps.Keys(set))
}

// admit decides, before anything is launched, which cases can run here: those
// whose condition does not hold are skipped, and those that need what the nodes
// do not have are errors. It names everything that is missing at once.
func (s *session) admit() error {
	seen := map[string]bool{}
	located := map[string]located{} // by demand, which many cases have in common
	for _, c := range s.plan.Cases {
		if c.Status != planner.Planned {
			continue
		}
		if c.When != "" {
			if s.o.When == nil {
				return fmt.Errorf("case %s has a condition, and nothing to evaluate it with", c.Key)
			}
			run, reason, err := s.o.When(c, s.hosts(c))
			if err != nil {
				s.decide(c.Key, results.Error, "evaluating when: "+err.Error())
				continue
			}
			if !run {
				s.decide(c.Key, results.Skipped, reason)
				continue
			}
		}
		lacks := s.lacks(c, located)
		if len(lacks) == 0 {
			continue
		}
		s.decide(c.Key, results.Error, "missing: "+strings.Join(lacks, "; "))
		for _, what := range lacks {
			if !seen[what] {
				seen[what] = true
				s.missing = append(s.missing, what)
				s.emit(Event{Type: RequireMissing, Reason: what})
			}
		}
	}
	return nil
}

// located is where launches of a demand would go, or what is lacking.
type located struct {
	placement
	lacks []string
}

// lacks lists what the session's nodes lack for a case.
func (s *session) lacks(c *planner.Case, known map[string]located) []string {
	needs, err := s.demandOf(c)
	if err != nil {
		return []string{err.Error()}
	}
	if simulated(c) {
		return lacksSimulation(needs.Runner)
	}
	d := s.demand(c, needs)
	p, ok := known[d.key()]
	if !ok {
		p.placement, p.lacks = s.locate(d, nil)
		all := s.clusterLacks()
		p.lacks = append(all, slices.DeleteFunc(p.lacks, func(what string) bool { return slices.Contains(all, what) })...)
		known[d.key()] = p
	}
	lacks := p.lacks
	if len(lacks) > 0 {
		return lacks
	}
	name := s.choose(needs, p.nodes).Fabric // which weir may have chosen
	for _, node := range slices.Compact(slices.Sorted(slices.Values(p.nodes))) {
		if f := s.members[node].Node.Fabrics[name]; name != "" && !f.Available {
			lacks = append(lacks, noFabric(name, node, f))
		}
		if why := noMemoryNode(needs.NUMA, node, s.members[node].Node.NUMA); why != "" {
			lacks = append(lacks, why)
		}
	}
	return lacks
}

// noMemoryNode says that a node does not have the NUMA node on which a case wants its
// buffers; "": it has, or nobody knows which there are, and the launch will say.
func noMemoryNode(want workload.Placement, node string, there []results.NUMANode) string {
	if want < 0 || len(there) == 0 || slices.ContainsFunc(there, func(n results.NUMANode) bool { return n.ID == int(want) }) {
		return ""
	}
	var ids []string
	for _, n := range there {
		ids = append(ids, strconv.Itoa(n.ID))
	}
	return fmt.Sprintf("NUMA node %v on node %s, which has %s", want, node, strings.Join(ids, ", "))
}

// clusterLacks lists what the nodes lack for the scenario, whatever a case asks for.
func (s *session) clusterLacks() []string {
	c := s.plan.Cluster
	nodes := max(c.Nodes, 1)
	_, lacks := s.locate(demand{
		place: planner.Place{Nodes: nodes, DistinctHosts: c.DistinctHosts, Labels: c.Labels}, ranks: nodes, nodeGPUs: c.GPUsPerNode,
	}, nil)
	return lacks
}

// caches are the sizes of the members' last-level caches, by node.
func (s *session) caches() map[string]int64 {
	out := map[string]int64{}
	for name, m := range s.members {
		out[name] = m.Node.CPU.Cache.Last()
	}
	return out
}

// choose resolves the fabric of ranks on these nodes.
func (s *session) choose(d workload.Demand, ranks []string) fabric.Choice {
	var nodes []results.Node
	for _, name := range slices.Compact(slices.Sorted(slices.Values(ranks))) {
		n := s.members[name].Node
		n.Name = name
		nodes = append(nodes, n)
	}
	return fabric.Choose(d, nodes)
}
