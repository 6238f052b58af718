package ledger

import (
	"cmp"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// Group is a launch group under way.
type Group struct {
	*planner.LaunchGroup
	looks    []int
	Wanted   []*planner.Case // planned, neither excluded nor skipped
	admitted bool            // the groups that it needs are decided
	Load     []*Group        // its background load
}

// Background reports whether the group is background load of others.
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

// NextRound are the groups with a next launch, in the order of this round. A decided group returns if an assertion over
// several cases has made one of its cases undecided.
func (l *Ledger) NextRound() []*Group {
	var ready []*Group
	for _, g := range l.Groups {
		if !g.admitted && l.needsDecided(g) {
			l.admitGroup(g)
		}
		if len(l.NextCases(g)) > 0 {
			ready = append(ready, g)
		}
	}
	return l.InOrder(ready)
}

// needsDecided reports whether all groups that the group and its load need are decided.
func (l *Ledger) needsDecided(g *Group) bool {
	for _, other := range append([]*Group{g}, g.Load...) {
		for _, id := range other.Needs {
			if n := l.group(id); n != nil && !l.Decided(n) {
				return false
			}
		}
	}
	return true
}

// admitGroup skips cases of a group with unmet needs or missing values, once their needs are decided.
func (l *Ledger) admitGroup(g *Group) {
	g.admitted = true
	for _, c := range l.Launchable(g) {
		if reason := cmp.Or(l.unmetNeed(c), l.missingValue(c)); reason != "" {
			l.Decide(c.Key, results.Skipped, reason)
		}
	}
	for _, load := range g.Load {
		if !load.admitted {
			l.admitGroup(load)
		}
		if len(l.Launchable(load)) == 0 && len(l.Launchable(g)) > 0 {
			l.DecideAll(l.Launchable(g), results.Skipped, l.LoadReason(load))
		}
	}
}
