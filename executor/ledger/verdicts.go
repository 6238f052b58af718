package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"weir/executor/event"
	"weir/planner"
	"weir/results"
)

// LookAt lets the gate judge if any group has come to a look: only cases that it
// then calls undecided go on.
func (l *Ledger) LookAt(round []*Group) {
	if !slices.ContainsFunc(round, l.complete) {
		return
	}
	l.Judge()
	l.undecided = map[string]bool{}
	if l.o.Undecided != nil {
		for _, key := range l.o.Undecided(l.Doc) {
			l.undecided[key] = true
		}
	}
}

// Judge asks the gate and tells of every verdict that is new.
func (l *Ledger) Judge() {
	if l.o.Judge == nil {
		return
	}
	for _, c := range l.Doc.Cases {
		c.Made = len(c.Launches)
	}
	l.o.Judge(l.Doc)
	tell := func(key string, list []*results.AssertionVerdict) {
		for _, a := range list {
			if a.Verdict != results.SkippedVerdict && l.verdicts[a] != a.Verdict {
				l.verdicts[a] = a.Verdict
				l.Events.Emit(event.Event{
					Type: event.VerdictReached, Case: key, Assertion: a.Name, Verdict: a.Verdict, Reason: a.Message,
				})
			}
		}
	}
	for _, c := range l.Doc.Cases {
		tell(c.Key, c.Assertions)
	}
	tell("", l.Doc.Assertions)
}

// Decide ends a case without, or beside, its launches.
func (l *Ledger) Decide(key, status, reason string) { l.DecideFor("", key, status, reason) }

// DecideFor does so because of a failure of some kind that was no launch's.
func (l *Ledger) DecideFor(kind, key, status, reason string) {
	l.Leave(key, status, reason)
	l.Err = cmp.Or(l.Err, l.recordCase(CaseRecord{Key: key, Status: status, Reason: reason, Kind: kind}))
}

// Leave says of a case why it was not run, or not to its end, without deciding it
// for a session that goes on with this one.
func (l *Ledger) Leave(key, status, reason string) {
	c := l.Case(key)
	c.Status, c.Reason = status, reason
	for _, a := range c.Assertions {
		a.Message = reason
	}
	l.Events.Emit(event.Event{Type: event.CaseSkipped, Case: key, Status: status, Reason: reason})
}

func (l *Ledger) DecideAll(cases []*planner.Case, status, reason string) {
	for _, c := range cases {
		l.Decide(c.Key, status, reason)
	}
}

// Excuses says whether the error of a case is expected.
func (l *Ledger) Excuses(key string) bool { return l.Doc.ExcusesError(l.Case(key)) }

// FailFastError ends a session early because it was asked to end at a failure.
type FailFastError struct{ cause string }

func (e *FailFastError) Error() string { return "--fail-fast: " + e.cause }

func (l *Ledger) FailFast() error {
	if !l.o.FailFast {
		return nil
	}
	for _, c := range l.Doc.Cases {
		if c.Status == results.Error && !l.Excuses(c.Key) {
			return &FailFastError{fmt.Sprintf("case %s failed: %s", c.Key, c.Reason)}
		}
		ended := func(g *Group) bool { return slices.Contains(g.Cases, c.Key) && l.Decided(g) }
		if c.Unexpected() && slices.ContainsFunc(l.Groups, ended) { // a later launch may fail yet
			return &FailFastError{fmt.Sprintf("case %s: %s", c.Key, c.MayFail.Message)}
		}
	}
	for _, a := range l.Doc.AllAssertions() {
		if failedGate(a) {
			return &FailFastError{fmt.Sprintf("assertion %q failed", a.Name)}
		}
	}
	return nil
}
