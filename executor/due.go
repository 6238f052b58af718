package executor

import (
	"slices"

	"weir/planner"
	"weir/results"
	"weir/workload"
)

// What is to be launched next follows from the document alone, whether its
// launches were made just now, failed and are to be made again, or were taken
// over from a session that was cut off.

// counted is how many launches of a case count: those that are not made again.
func counted(c *results.Case) int {
	n := 0
	for _, l := range c.Launches {
		if !l.Retried {
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

// live are the group's cases that can be launched.
func (s *session) live(g *group) []*planner.Case {
	var live []*planner.Case
	for _, c := range g.cases {
		if runnable(s.caseOf(c.Key)) {
			live = append(live, c)
		}
	}
	return live
}

// due are the cases that the group's next launch runs: of those that are on the
// way to a look, or stand at one, are undecided and have another, the ones whose
// look is the nearest. So a case that fell behind catches up alone.
func (s *session) due(g *group) []*planner.Case {
	if !g.admitted || g.background() {
		return nil
	}
	var due []*planner.Case
	target := 0
	live := s.live(g)
	if len(live) < len(g.cases) && len(g.cases) > 0 && sequence(g.cases[0]) {
		return nil
	}
	for _, c := range live {
		n := counted(s.caseOf(c.Key))
		look := nextLook(g.looks, n)
		if look == 0 || slices.Contains(g.looks, n) && !s.undecided[c.Key] || target > 0 && look > target {
			continue
		}
		if look != target {
			target, due = look, nil
		}
		due = append(due, c)
	}
	if len(due) > 0 && sequence(due[0]) { // one that is not whole would be another
		return g.cases
	}
	return due
}

// sequence says whether a case is played with all others of its group.
func sequence(c *planner.Case) bool {
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
func (s *session) complete(g *group) bool {
	for _, c := range s.live(g) {
		n := counted(s.caseOf(c.Key))
		if nextLook(g.looks, n) > 0 && !slices.Contains(g.looks, n) {
			return false
		}
	}
	return g.admitted
}

// decided says whether nothing more comes of a group, as it stands: background
// load ends with the last group that it runs for.
func (s *session) decided(g *group) bool {
	if g.background() {
		return !slices.ContainsFunc(g.During, func(id string) bool { return s.group(id) != nil && !s.decided(s.group(id)) })
	}
	return g.admitted && len(s.due(g)) == 0
}

// nextIndex is the index of the group's next launch. Every attempt has an own
// one, so that none overwrites what another measured.
func (s *session) nextIndex(g *group) int {
	next := 0
	for _, key := range g.Cases {
		for _, l := range s.caseOf(key).Launches {
			next = max(next, l.Index+1)
		}
	}
	return next
}

// failures are the launches of a group that failed for good, by index: what is
// wrong with a case's own numbers is no failure of the launch, and what is counted is
// no reason to end.
func (s *session) failures(g *group) map[int]*results.Failure {
	failed := map[int]*results.Failure{}
	for _, key := range g.Cases {
		if s.find.lossy[key] {
			continue
		}
		for _, l := range s.caseOf(key).Launches {
			if l.Failure != nil && !l.Retried && l.Failure.Phase != results.Evaluating {
				failed[l.Index] = l.Failure
			}
		}
	}
	return failed
}

// ahead is how many launches the cases of a launch need until their next look,
// this one included.
func (s *session) ahead(l *launched) int {
	n := counted(s.caseOf(l.cases[0].Key))
	return max(1, nextLook(l.g.looks, n)-n)
}
