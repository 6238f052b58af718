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
	cases    []*planner.Case // that the plan means to run
	admitted bool            // the groups that it needs are decided, and so are its needs
	load     []*group        // that run as background load during its launches
}

// background says whether the group runs only beside others.
func (g *group) background() bool { return len(g.During) > 0 }

// maxFailures is how many launches of a group may fail before the rest of it is
// given up. A first one may be one case's own; its other cases go on.
const maxFailures = 2

// schedule runs launches until every case is decided. Among the groups that may
// run, launches take turns (A B C A B C …), so that a drift of the machine meets
// all of them alike; the gate looks when a group has all launches of its look.
// Whatever made the launches that the document has, the next one is the same.
func (s *session) schedule(ctx context.Context) error {
	for {
		round := s.round()
		if len(round) == 0 {
			return nil
		}
		for _, g := range round {
			due := s.due(g)
			if len(due) == 0 {
				continue
			}
			if err := s.launch(ctx, g, s.arrange(g, due)); err != nil {
				return err
			}
			if err := s.failFast(); err != nil {
				return err
			}
		}
		s.lookAt(round)
		if err := s.failFast(); err != nil {
			return err
		}
		s.endRuns(ctx)
	}
}

func groupsOf(p *planner.Plan, o Options) []*group {
	var all []*group
	byID := map[string]*group{}
	cases := map[string]*planner.Case{}
	for _, c := range p.Cases {
		cases[c.Key] = c
	}
	for _, g := range p.Groups {
		n := &group{LaunchGroup: g, looks: looksOf(g, o)}
		for _, key := range g.Cases {
			if c := cases[key]; c != nil && c.Status == planner.Planned {
				n.cases = append(n.cases, c)
			}
		}
		all = append(all, n)
		byID[g.ID] = n
	}
	for _, g := range all {
		for _, id := range g.During {
			if f := byID[id]; f != nil {
				f.load = append(f.load, g)
			}
		}
	}
	return all
}

// round is the groups of which a launch is due, in the order of this round. A
// group that the gate had called decided is among them again if an assertion
// over several cases has made one of its cases undecided.
func (s *session) round() []*group {
	var ready []*group
	for _, g := range s.groups {
		if !g.admitted && s.mayBegin(g) {
			s.admitGroup(g)
		}
		if len(s.due(g)) > 0 {
			ready = append(ready, g)
		}
	}
	return s.inOrder(ready)
}

// mayBegin says whether everything that the group and its load need is decided.
func (s *session) mayBegin(g *group) bool {
	for _, other := range append([]*group{g}, g.load...) {
		for _, id := range other.Needs {
			if n := s.group(id); n != nil && !s.decided(n) {
				return false
			}
		}
	}
	return true
}

// admitGroup finds the cases of a group that are still to run, now that what
// they need is decided.
func (s *session) admitGroup(g *group) {
	g.admitted = true
	for _, c := range s.live(g) {
		if reason := s.unmet(c); reason != "" {
			s.decide(c.Key, results.Skipped, reason)
		}
	}
	for _, l := range g.load {
		if !l.admitted {
			s.admitGroup(l)
		}
		if len(s.live(l)) == 0 && len(s.live(g)) > 0 {
			s.decideAll(s.live(g), results.Skipped, s.unloaded(l))
		}
	}
}

// lookAt lets the gate judge if any group has come to a look: only cases that it
// then calls undecided go on.
func (s *session) lookAt(round []*group) {
	if !slices.ContainsFunc(round, s.complete) {
		return
	}
	s.judge()
	s.undecided = map[string]bool{}
	if s.o.Undecided != nil {
		for _, key := range s.o.Undecided(s.doc) {
			s.undecided[key] = true
		}
	}
}

// judge asks the gate and tells of every verdict that is new.
func (s *session) judge() {
	if s.o.Judge == nil {
		return
	}
	for _, c := range s.doc.Cases {
		c.Made = len(c.Launches)
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
func (s *session) decide(key, status, reason string) { s.decideFor("", key, status, reason) }

// decideFor does so because of a failure of some kind that was no launch's.
func (s *session) decideFor(kind, key, status, reason string) {
	s.leave(key, status, reason)
	s.journalErr = firstError(s.journalErr, s.recordCase(CaseRecord{Key: key, Status: status, Reason: reason, Kind: kind}))
}

// leave says of a case why it was not run, or not to its end, without deciding it
// for a session that goes on with this one.
func (s *session) leave(key, status, reason string) {
	c := s.caseOf(key)
	c.Status, c.Reason = status, reason
	for _, a := range c.Assertions {
		a.Message = reason
	}
	s.emit(Event{Type: CaseSkipped, Case: key, Status: status, Reason: reason})
}

func (s *session) decideAll(cases []*planner.Case, status, reason string) {
	for _, c := range cases {
		s.decide(c.Key, status, reason)
	}
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
