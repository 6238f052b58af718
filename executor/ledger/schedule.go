package ledger

import (
	"slices"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// The schedule follows from the document alone, whether its launches ran in this session, failed and are retried,
// or were taken over from a resumed session.

// countedLaunches is the number of launches of a case that were neither retried nor discarded.
func countedLaunches(c *results.Case) int {
	n := 0
	for _, l := range c.Launches {
		if l.Usable() {
			n++
		}
	}
	return n
}

// Launchable are the group's cases that can be launched (again): they have neither failed nor been skipped.
func (l *Ledger) Launchable(g *Group) []*planner.Case {
	return slices.DeleteFunc(slices.Clone(g.Wanted), func(c *planner.Case) bool {
		r := l.Case(c.Key)
		return r.Status != results.OK && r.Reason != notRun
	})
}

// NextCases are the cases of the group's next launch: the undecided ones with the nearest next analysis. So a case that
// fell behind catches up alone.
func (l *Ledger) NextCases(g *Group) []*planner.Case {
	if !g.admitted || g.Background() {
		return nil
	}
	var cases []*planner.Case
	target := 0
	launchable := l.Launchable(g)
	if len(launchable) < len(g.Wanted) && len(g.Wanted) > 0 && Sequence(g.Wanted[0]) {
		return nil
	}
	for _, c := range launchable {
		next := l.nextOf(g, c)
		if next == 0 || target > 0 && next > target {
			continue
		}
		if next != target {
			target, cases = next, nil
		}
		cases = append(cases, c)
	}
	if len(cases) > 0 && Sequence(cases[0]) {
		return g.Wanted
	}
	return cases
}

// nextOf is the number of launches at the next analysis of a case of the group; 0: it needs none.
func (l *Ledger) nextOf(g *Group, c *planner.Case) int {
	n := countedLaunches(l.Case(c.Key))
	if l.exhausted(g, c.Key) || slices.Contains(g.looks, n) && !l.undecided[c.Key] {
		return 0
	}
	return nextLook(g.looks, n)
}

// Sequence reports whether a case only runs together with all cases of its group.
func Sequence(c *planner.Case) bool {
	k, ok := workload.Lookup(c.Workload)
	return ok && k.Sequence != ""
}

// nextLook is the first look after n launches; 0: there is none.
func nextLook(looks []int, n int) int {
	for _, a := range looks {
		if a > n {
			return a
		}
	}
	return 0
}

// lookReached reports whether every case of the group has the launches of a look.
func (l *Ledger) lookReached(g *Group) bool {
	for _, c := range l.Launchable(g) {
		n := countedLaunches(l.Case(c.Key))
		if l.exhausted(g, c.Key) {
			continue
		}
		if nextLook(g.looks, n) > 0 && !slices.Contains(g.looks, n) {
			return false
		}
	}
	return g.admitted
}

// Decided reports whether a group needs no more launches; background load, whether none of its foregrounds does.
func (l *Ledger) Decided(g *Group) bool {
	if g.Background() {
		return !slices.ContainsFunc(g.During, func(id string) bool {
			return l.group(id) != nil && !l.Decided(l.group(id))
		})
	}
	return g.admitted && len(l.NextCases(g)) == 0
}

// exhausted reports whether the budget for discarded launches of a case is used up.
func (l *Ledger) exhausted(g *Group, key string) bool {
	return len(g.looks) > 0 && l.Case(key).Exhausted(g.looks[0])
}

// NextIndex is the index of the group's next launch. Every attempt has its own, so that none overwrites files.
func (l *Ledger) NextIndex(g *Group) int {
	next := 0
	for _, key := range g.Cases {
		for _, l := range l.Case(key).Launches {
			next = max(next, l.Index+1)
		}
	}
	return next
}

// failures are the failures of a group's launches that are not retried, by index, except those in the evaluation of a
// case, and those that assertions count.
func (l *Ledger) failures(g *Group) map[int]*results.Failure {
	failed := map[int]*results.Failure{}
	for _, key := range g.Cases {
		if l.index.failuresCounted[key] {
			continue
		}
		for _, entry := range l.Case(key).Launches {
			if entry.Failure != nil && !entry.Retried && entry.Failure.Phase != results.Evaluating {
				failed[entry.Index] = entry.Failure
			}
		}
	}
	return failed
}

// LaunchesAhead is the number of launches of a case until its next analysis, with the one under way.
func (l *Ledger) LaunchesAhead(g *Group, key string) int {
	n := countedLaunches(l.Case(key))
	return max(1, nextLook(g.looks, n)-n)
}
