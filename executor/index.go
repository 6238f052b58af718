package executor

import (
	"cmp"

	"weir/planner"
	"weir/results"
	"weir/workload"
)

// index finds what a session asks for all the time: with ten thousand cases,
// looking through them for each would take longer than to run them. None of the
// lists changes while the session lives.
type index struct {
	cases   map[string]*results.Case
	planned map[string]*planner.Case
	groups  map[string]*group
	runs    map[string]*planner.Run
	lossy   map[string]bool   // keys of cases whose failed launches an assertion counts
	turns   map[string]*turns // of the runs that take turns with others, by run
}

func (s *session) newIndex() index {
	x := index{
		cases: make(map[string]*results.Case, len(s.doc.Cases)), planned: make(map[string]*planner.Case, len(s.plan.Cases)),
		groups: map[string]*group{}, runs: map[string]*planner.Run{},
	}
	for _, c := range s.doc.Cases {
		x.cases[c.Key] = c
	}
	for _, c := range s.plan.Cases {
		x.planned[c.Key] = c
	}
	for _, g := range s.groups {
		x.groups[g.ID] = g
	}
	for _, r := range s.plan.Runs {
		x.runs[r.Name] = r
	}
	x.counting(s.doc)
	x.turns = turnsOf(s.plan, s.groups)
	return x
}

// counting finds the cases of which an assertion counts the launches that fail.
func (x *index) counting(d *results.Document) {
	x.lossy = map[string]bool{}
	look := func(own string, list []*results.AssertionVerdict) {
		for _, a := range list {
			for _, key := range a.About(workload.Availability.Name) {
				x.lossy[cmp.Or(key, own)] = true
			}
		}
	}
	for _, c := range d.Cases {
		look(c.Key, c.Assertions)
	}
	look("", d.Assertions)
}

// caseOf finds a case of the document, nil if it has none of this key.
func (s *session) caseOf(key string) *results.Case { return s.find.cases[key] }

// plannedCase finds a case of the plan, nil if it has none of this key.
func (s *session) plannedCase(key string) *planner.Case { return s.find.planned[key] }

// group finds a group, nil if the plan does not have it.
func (s *session) group(id string) *group { return s.find.groups[id] }

// runOf finds a run of the plan; one that it does not describe has no settings.
func (s *session) runOf(name string) *planner.Run {
	if r := s.find.runs[name]; r != nil {
		return r
	}
	return &planner.Run{Name: name}
}
