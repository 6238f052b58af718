package ledger

import (
	"cmp"

	"weir/planner"
	"weir/results"
)

// Group is a launch group under way.
type Group struct {
	*planner.LaunchGroup
	looks    []int
	Wanted   []*planner.Case // that the plan means to run
	admitted bool            // the groups that it needs are decided, and so are its needs
	Load     []*Group        // that run as background load during its launches
}

// Background says whether the group runs only beside others.
func (g *Group) Background() bool { return len(g.During) > 0 }

func groupsOf(p *planner.Plan, o Options) []*Group {
	var all []*Group
	byID := map[string]*Group{}
	cases := map[string]*planner.Case{}
	for _, c := range p.Cases {
		cases[c.Key] = c
	}
	for _, g := range p.Groups {
		n := &Group{LaunchGroup: g, looks: looksOf(g, o)}
		for _, key := range g.Cases {
			if c := cases[key]; c != nil && c.Status == planner.Planned {
				n.Wanted = append(n.Wanted, c)
			}
		}
		all = append(all, n)
		byID[g.ID] = n
	}
	for _, g := range all {
		for _, id := range g.During {
			if f := byID[id]; f != nil {
				f.Load = append(f.Load, g)
			}
		}
	}
	return all
}

// Round is the groups of which a launch is due, in the order of this round. A
// group that the gate had called decided is among them again if an assertion
// over several cases has made one of its cases undecided.
func (l *Ledger) Round() []*Group {
	var ready []*Group
	for _, g := range l.Groups {
		if !g.admitted && l.mayBegin(g) {
			l.admitGroup(g)
		}
		if len(l.Due(g)) > 0 {
			ready = append(ready, g)
		}
	}
	return l.InOrder(ready)
}

// mayBegin says whether everything that the group and its load need is decided.
func (l *Ledger) mayBegin(g *Group) bool {
	for _, other := range append([]*Group{g}, g.Load...) {
		for _, id := range other.Needs {
			if n := l.group(id); n != nil && !l.Decided(n) {
				return false
			}
		}
	}
	return true
}

// admitGroup finds the cases of a group that are still to run, now that what
// they need is decided.
func (l *Ledger) admitGroup(g *Group) {
	g.admitted = true
	for _, c := range l.Live(g) {
		if reason := cmp.Or(l.unmet(c), l.valueless(c)); reason != "" {
			l.Decide(c.Key, results.Skipped, reason)
		}
	}
	for _, load := range g.Load {
		if !load.admitted {
			l.admitGroup(load)
		}
		if len(l.Live(load)) == 0 && len(l.Live(g)) > 0 {
			l.DecideAll(l.Live(g), results.Skipped, l.Unloaded(load))
		}
	}
}
