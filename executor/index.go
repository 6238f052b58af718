package executor

import (
	"slices"

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
	lossy   map[string]bool // keys of cases whose failed launches an assertion counts
	// rivals has a number for each run that an assertion compares with others, the same
	// for all of these.
	rivals   map[string]int
	clusters int // numbers given so far
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
	x.asserted(s.doc)
	return x
}

// asserted finds what assertions ask of the order and the end of launches.
func (x *index) asserted(d *results.Document) {
	x.lossy, x.rivals = map[string]bool{}, map[string]int{}
	look := func(own *results.Case, list []*results.AssertionVerdict) {
		for _, a := range list {
			for _, key := range a.About(workload.Availability.Name) {
				if key == "" && own != nil {
					key = own.Key
				}
				x.lossy[key] = true
			}
			var runs []string
			if own != nil {
				runs = append(runs, own.Run)
			}
			for _, leaf := range a.Subject.Leaves() {
				if c := x.cases[leaf.Case]; c != nil && !leaf.Baseline {
					runs = append(runs, c.Run)
				}
			}
			x.compared(runs)
		}
	}
	for _, c := range d.Cases {
		look(c, c.Assertions)
	}
	look(nil, d.Assertions)
}

// compared gives runs, and all that they are compared with, one number.
func (x *index) compared(runs []string) {
	if !slices.ContainsFunc(runs, func(r string) bool { return r != runs[0] }) {
		return
	}
	number, known := x.rivals[runs[0]]
	if !known {
		number = x.clusters
		x.clusters++
	}
	for _, run := range runs {
		had, ok := x.rivals[run]
		x.rivals[run] = number
		if !ok || had == number {
			continue
		}
		for other, k := range x.rivals {
			if k == had {
				x.rivals[other] = number
			}
		}
	}
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
