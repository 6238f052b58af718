package ledger

import (
	"slices"

	"weir/planner"
	"weir/results"
	"weir/workload"
)

// What is to be launched next follows from the document alone, whether its
// launches were made just now, failed and are to be made again, or were taken
// over from a session that was cut off.

// counted is how many launches of a case count: those that are not made again and not void.
func counted(c *results.Case) int {
	n := 0
	for _, l := range c.Launches {
		if l.Counts() {
			n++
		}
	}
	return n
}

// runnable says whether a case can be launched (again): no error or skip has
// decided it.
func runnable(c *results.Case) bool {
	return c.Status == results.OK || c.Reason == notRun
}

// Live are the group's cases that can be launched.
func (l *Ledger) Live(g *Group) []*planner.Case {
	var live []*planner.Case
	for _, c := range g.Wanted {
		if runnable(l.Case(c.Key)) {
			live = append(live, c)
		}
	}
	return live
}

// Due are the cases that the group's next launch runs: of those that are on the
// way to a look, or stand at one, are undecided and have another, the ones whose
// look is the nearest. So a case that fell behind catches up alone.
func (l *Ledger) Due(g *Group) []*planner.Case {
	if !g.admitted || g.Background() {
		return nil
	}
	var due []*planner.Case
	target := 0
	live := l.Live(g)
	if len(live) < len(g.Wanted) && len(g.Wanted) > 0 && Sequence(g.Wanted[0]) {
		return nil
	}
	for _, c := range live {
		if l.exhausted(g, c.Key) {
			continue
		}
		n := counted(l.Case(c.Key))
		look := nextLook(g.looks, n)
		if look == 0 || slices.Contains(g.looks, n) && !l.undecided[c.Key] || target > 0 && look > target {
			continue
		}
		if look != target {
			target, due = look, nil
		}
		due = append(due, c)
	}
	if len(due) > 0 && Sequence(due[0]) { // one that is not whole would be another
		return g.Wanted
	}
	return due
}

// Sequence says whether a case is played with all others of its group.
func Sequence(c *planner.Case) bool {
	k, ok := workload.Lookup(c.Workload)
	return ok && k.Sequence != ""
}

// nextLook is the first look after n launches, 0 if there is none.
func nextLook(looks []int, n int) int {
	for _, l := range looks {
		if l > n {
			return l
		}
	}
	return 0
}

// complete says whether every case of the group stands at a look.
func (l *Ledger) complete(g *Group) bool {
	for _, c := range l.Live(g) {
		n := counted(l.Case(c.Key))
		if l.exhausted(g, c.Key) {
			continue
		}
		if nextLook(g.looks, n) > 0 && !slices.Contains(g.looks, n) {
			return false
		}
	}
	return g.admitted
}

// Decided says whether nothing more comes of a group, as it stands: background
// load ends with the last group that it runs for.
func (l *Ledger) Decided(g *Group) bool {
	if g.Background() {
		return !slices.ContainsFunc(g.During, func(id string) bool {
			return l.group(id) != nil && !l.Decided(l.group(id))
		})
	}
	return g.admitted && len(l.Due(g)) == 0
}

// exhausted says whether another launch of a case would be as void as those that were made.
func (l *Ledger) exhausted(g *Group, key string) bool {
	return len(g.looks) > 0 && l.Case(key).Exhausted(g.looks[0])
}

// NextIndex is the index of the group's next launch. Every attempt has an own
// one, so that none overwrites what another measured.
func (l *Ledger) NextIndex(g *Group) int {
	next := 0
	for _, key := range g.Cases {
		for _, l := range l.Case(key).Launches {
			next = max(next, l.Index+1)
		}
	}
	return next
}

// failures are the launches of a group that failed for good, by index: what is
// wrong with a case's own numbers is no failure of the launch, and what is counted is
// no reason to end.
func (l *Ledger) failures(g *Group) map[int]*results.Failure {
	failed := map[int]*results.Failure{}
	for _, key := range g.Cases {
		if l.find.lossy[key] {
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

// Ahead is how many launches a case of a group needs until its next look, the one under way
// included.
func (l *Ledger) Ahead(g *Group, key string) int {
	n := counted(l.Case(key))
	return max(1, nextLook(g.looks, n)-n)
}
