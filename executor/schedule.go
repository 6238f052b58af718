package executor

import (
	"context"
	"fmt"
	"slices"

	"weir/planner"
	"weir/results"
)

// group is a launch group under way.
type group struct {
	*planner.LaunchGroup
	looks    []int
	look     int             // index of the look that it works towards
	live     []*planner.Case // to be launched again
	admitted bool            // the groups that it needs are decided, and so are its needs
	decided  bool
	launches int // made so far; the index of the next
	failures int
}

// maxFailures is how many launches of a group may fail before the rest of it is
// given up. A first one may be one case's own; its other cases go on.
const maxFailures = 2

// schedule runs launches until every case is decided. Among the groups that may
// run, launches take turns (A B C A B C …), so that a drift of the machine meets
// all of them alike; the gate looks when a group has all launches of its look.
func (s *session) schedule(ctx context.Context) error {
	groups := s.groups()
	for {
		ready := s.ready(groups)
		if len(ready) == 0 {
			return nil
		}
		for _, g := range ready {
			due := g.due(s.doc)
			if len(due) == 0 {
				continue
			}
			if err := s.launch(ctx, g, due); err != nil {
				return err
			}
			if err := s.failFast(); err != nil {
				return err
			}
		}
		s.lookAt(ready)
		if err := s.failFast(); err != nil {
			return err
		}
	}
}

func (s *session) groups() []*group {
	var all []*group
	for _, g := range s.plan.Groups {
		all = append(all, &group{LaunchGroup: g, looks: looksOf(g, s.o)})
	}
	return all
}

// ready are the undecided groups whose needed groups are decided.
func (s *session) ready(groups []*group) []*group {
	decided := map[string]bool{}
	for _, g := range groups {
		decided[g.ID] = g.decided
	}
	var ready []*group
	for _, g := range groups {
		if g.decided || slices.ContainsFunc(g.Needs, func(id string) bool { return !decided[id] }) {
			continue
		}
		if !g.admitted {
			s.admitGroup(g)
		}
		ready = append(ready, g)
	}
	return ready
}

// admitGroup finds the cases of a group that are still to run, now that what
// they need is decided.
func (s *session) admitGroup(g *group) {
	g.admitted = true
	for _, key := range g.Cases {
		c := s.plan.Case(key)
		if c == nil || c.Status != planner.Planned || s.doc.Case(key).Reason != notRun {
			continue
		}
		if reason := s.unmet(c); reason != "" {
			s.decide(key, results.Skipped, reason)
			continue
		}
		g.live = append(g.live, c)
	}
}

// due are the group's cases that lack launches for the next look.
func (g *group) due(d *results.Document) []*planner.Case {
	var due []*planner.Case
	for _, c := range g.live {
		if len(d.Case(c.Key).Launches) < g.looks[g.look] {
			due = append(due, c)
		}
	}
	return due
}

// lookAt lets the gate judge if any group has all launches of its look; of those
// groups only cases to which more launches can make a difference go on.
func (s *session) lookAt(ready []*group) {
	var complete []*group
	for _, g := range ready {
		if len(g.due(s.doc)) == 0 {
			complete = append(complete, g)
		}
	}
	if len(complete) == 0 {
		return
	}
	s.judge()
	undecided := map[string]bool{}
	if s.o.Undecided != nil {
		for _, key := range s.o.Undecided(s.doc) {
			undecided[key] = true
		}
	}
	for _, g := range complete {
		g.live = slices.DeleteFunc(g.live, func(c *planner.Case) bool { return !undecided[c.Key] })
		g.look++
		g.decided = len(g.live) == 0 || g.look == len(g.looks)
	}
}

// judge asks the gate and tells of every verdict that is new.
func (s *session) judge() {
	if s.o.Judge == nil {
		return
	}
	s.o.Judge(s.doc)
	tell := func(key string, list []*results.AssertionVerdict) {
		for _, a := range list {
			if a.Verdict != results.SkippedVerdict && s.verdicts[a] != a.Verdict {
				s.verdicts[a] = a.Verdict
				s.emit(Event{Type: VerdictReached, Case: key, Assertion: a.Name, Verdict: a.Verdict, Reason: a.Message})
			}
		}
	}
	for _, c := range s.doc.Cases {
		tell(c.Key, c.Assertions)
	}
	tell("", s.doc.Assertions)
}

// decide ends a case without, or beside, its launches.
func (s *session) decide(key, status, reason string) {
	c := s.doc.Case(key)
	c.Status, c.Reason = status, reason
	for _, a := range c.Assertions {
		a.Message = reason
	}
	s.emit(Event{Type: CaseSkipped, Case: key, Status: status, Reason: reason})
	s.journalErr = firstError(s.journalErr, s.record(Record{Case: &CaseRecord{Key: key, Status: status, Reason: reason}}))
}

// failFastError ends a session early because it was asked to end at a failure.
type failFastError struct{ cause string }

func (e *failFastError) Error() string { return "--fail-fast: " + e.cause }

func (s *session) failFast() error {
	if !s.o.FailFast {
		return nil
	}
	for _, c := range s.doc.Cases {
		if c.Status == results.Error {
			return &failFastError{fmt.Sprintf("case %s failed: %s", c.Key, c.Reason)}
		}
	}
	for _, a := range s.doc.AllAssertions() {
		if failedGate(a) {
			return &failFastError{fmt.Sprintf("assertion %q failed", a.Name)}
		}
	}
	return nil
}
