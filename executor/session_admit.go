// This file decides which cases can run on the nodes; session_commands.go comes next.

package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// fabrics are the fabrics that agents probe: those of planned cases and conditions; nil: all, because a condition
// may use any. Those of cases that a selection skips are among them, because the fingerprint of the environment has
// the fabrics: a part of a scenario has the baseline of the whole. Probing loads libraries, which can take long.
func (s *session) fabrics() []string {
	set := map[string]bool{}
	for _, c := range s.plan.Cases {
		if c.Status != planner.Planned && !c.Deselected {
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
			continue // admitCases reports it
		}
		for _, f := range fabric.Candidates(d.OfFabric(), max(c.Place.Nodes, s.plan.Cluster.Nodes)) {
			set[f] = true
		}
	}
	for f := range engine.SimulatedFabrics() { // hosts do not have them
		delete(set, f)
	}
	if len(set) == 0 {
		set[fabric.Names()[0]] = true // an empty list means all
	}
	return slices.Sorted(maps.Keys(set))
}

// admitCases skips cases with a false condition and fails cases that the nodes lack something for, before the
// first launch. It names all that is missing at once.
func (s *session) admitCases() error {
	seen := map[string]bool{}
	located := map[string]trialPlacement{} // by demand, which many cases share
	for _, c := range s.plan.Cases {
		if c.Status != planner.Planned {
			continue
		}
		if c.When != "" {
			if s.o.When == nil {
				return fmt.Errorf("case %s has a condition, but Options.When is not set", c.Key)
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
		needs, err := s.demandOf(c)
		var lacks []string
		if err != nil {
			lacks = []string{err.Error()}
		} else {
			lacks = s.backendOf(c).lacks(c, needs, located)
		}
		if len(lacks) == 0 {
			continue
		}
		s.ledger.Decide(c.Key, results.Error, "missing: "+strings.Join(lacks, "; "))
		for _, what := range lacks {
			if !s.ledger.Excuses(c.Key) && !slices.Contains(s.missingResources, what) {
				s.missingResources = append(s.missingResources, what)
			}
			if !seen[what] {
				seen[what] = true
				s.ledger.Events.Emit(event.Event{Type: event.RequireMissing, Reason: what})
			}
		}
	}
	return nil
}

// trialPlacement is the placement of a demand on idle nodes, or what the nodes lack.
type trialPlacement struct {
	placed placement.Placement
	lacks  []string
}

// clusterLacks lists what the nodes lack for the scenario's cluster, independent of cases.
func (s *session) clusterLacks() []string {
	c := s.plan.Cluster
	nodes := max(c.Nodes, 1)
	_, lacks := s.nodes.Locate(placement.Demand{Nodes: nodes, DistinctHosts: c.DistinctHosts, Labels: c.Labels,
		Ranks: nodes, NodeGPUs: c.GPUsPerNode, Node: s.requirements()}, nil)
	return lacks
}

// requirements are what the cluster requires of each node besides GPUs.
func (s *session) requirements() placement.Requirements {
	c := s.plan.Cluster
	return placement.Requirements{
		NICs: c.NICsPerNode, Driver: c.NICDriver, HugePages: c.HugePages, LockedMemory: c.LockedMemory,
	}
}
