package ledger

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
	groups  map[string]*Group
	runs    map[string]*planner.Run
	lossy   map[string]bool   // keys of cases whose failed launches an assertion counts
	turns   map[string]*turns // of the runs that take turns with others, by run
}

func (l *Ledger) newIndex() index {
	x := index{
		cases:   make(map[string]*results.Case, len(l.Doc.Cases)),
		planned: make(map[string]*planner.Case, len(l.Plan.Cases)),
		groups:  map[string]*Group{}, runs: map[string]*planner.Run{},
	}
	for _, c := range l.Doc.Cases {
		x.cases[c.Key] = c
	}
	for _, c := range l.Plan.Cases {
		x.planned[c.Key] = c
	}
	for _, g := range l.Groups {
		x.groups[g.ID] = g
	}
	for _, r := range l.Plan.Runs {
		x.runs[r.Name] = r
	}
	x.counting(l.Doc)
	x.turns = turnsOf(l.Plan, l.Groups)
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

// Case finds a case of the document, nil if it has none of this key.
func (l *Ledger) Case(key string) *results.Case { return l.find.cases[key] }

// planned finds a case of the plan, nil if it has none of this key.
func (l *Ledger) planned(key string) *planner.Case { return l.find.planned[key] }

// group finds a group, nil if the plan does not have it.
func (l *Ledger) group(id string) *Group { return l.find.groups[id] }

// Run finds a run of the plan; one that it does not describe has no settings.
func (l *Ledger) Run(name string) *planner.Run {
	if r := l.find.runs[name]; r != nil {
		return r
	}
	return &planner.Run{Name: name}
}
