package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/engine"
	"weir/executor/event"
	"weir/executor/placement"
	"weir/fabric"
	"weir/planner"
	"weir/results"
)

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
		if !s.backendOf(c).processes() {
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
			run, reason, err := s.o.When(c, s.backendOf(c).nodes())
			if err != nil {
				s.ledger.Decide(c.Key, results.Error, "evaluating when: "+err.Error())
				continue
			}
			if !run {
				s.ledger.Decide(c.Key, results.Skipped, reason)
				continue
			}
		}
		lacks := s.lacks(c, located)
		if len(lacks) == 0 {
			continue
		}
		s.ledger.Decide(c.Key, results.Error, "missing: "+strings.Join(lacks, "; "))
		for _, what := range lacks {
			if !s.ledger.Excuses(c.Key) && !slices.Contains(s.missing, what) {
				s.missing = append(s.missing, what)
			}
			if !seen[what] {
				seen[what] = true
				s.ledger.Events.Emit(event.Event{Type: event.RequireMissing, Reason: what})
			}
		}
	}
	return nil
}

// located is where launches of a demand would go, or what is lacking.
type located struct {
	placed placement.Placement
	lacks  []string
}

// lacks lists what the session's nodes lack for a case.
func (s *session) lacks(c *planner.Case, known map[string]located) []string {
	needs, err := s.demandOf(c)
	if err != nil {
		return []string{err.Error()}
	}
	return s.backendOf(c).lacks(c, needs, known)
}

// clusterLacks lists what the nodes lack for the scenario, whatever a case asks for.
func (s *session) clusterLacks() []string {
	c := s.plan.Cluster
	nodes := max(c.Nodes, 1)
	_, lacks := s.hosts.Locate(placement.Demand{Nodes: nodes, DistinctHosts: c.DistinctHosts, Labels: c.Labels,
		Ranks: nodes, NodeGPUs: c.GPUsPerNode}, nil)
	return lacks
}
