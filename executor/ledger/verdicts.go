package ledger

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// JudgeAtLooks lets the gate judge if a group of the round has all launches of a look. Only cases that are then
// undecided continue.
func (l *Ledger) JudgeAtLooks(round []*Group) {
	if !slices.ContainsFunc(round, l.lookReached) {
		return
	}
	l.Judge()
	l.undecided = map[string]bool{}
	if l.o.Undecided != nil {
		for _, key := range l.o.Undecided(l.Doc) {
			l.undecided[key] = true
		}
	}
	l.tellEnded(false)
}

// Judge lets the gate judge, and emits new verdicts.
func (l *Ledger) Judge() {
	if l.o.Judge == nil {
		return
	}
	for _, c := range l.Doc.Cases {
		c.Made = len(c.Launches)
	}
	l.o.Judge(l.Doc)
	emit := func(key string, list []*results.AssertionVerdict) {
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
		emit(c.Key, c.Assertions)
	}
	emit("", l.Doc.Assertions)
}

// Decide ends a case independently of its launches.
func (l *Ledger) Decide(key, status, reason string) { l.DecideFor("", key, status, reason) }

// DecideFor decides a case because of a failure of this kind outside of a launch.
func (l *Ledger) DecideFor(kind, key, status, reason string) {
	l.SetReason(key, status, reason)
	c := CaseRecord{Key: key, Status: status, Reason: reason, Kind: kind}
	if !l.past.decided[c] {
		l.Err = cmp.Or(l.Err, l.Record(Record{Case: &c}))
	}
}

// SetReason sets the status and reason of a case, without deciding it for a session that resumes this one.
func (l *Ledger) SetReason(key, status, reason string) {
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

// Excuses reports whether the error of a case is expected.
func (l *Ledger) Excuses(key string) bool { return l.Doc.ExcusesError(l.Case(key)) }

// FailFastError ends a session at the first failure.
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

// FinishUnjudged completes the document of a session without a gate: its status is whether all cases ran.
func (l *Ledger) FinishUnjudged(aborted bool) {
	d := l.Doc
	d.Summarize()
	if d.Session.Reason == "" {
		d.Session.Reason = l.lacksArtifacts()
	}
	switch {
	case aborted:
		d.Session.Status = results.Aborted
	case d.Session.Reason != "" || d.Summary.Cases[results.Error] > 0:
		d.Session.Status, d.Session.ExitCode = results.Errored, ExitError
	default:
		d.Session.Status = results.Passed
	}
}

// ExplainUnrun sets the reasons of cases that did not run. aborted is what ended the session from outside, "": nothing;
// err is the session's error.
func (l *Ledger) ExplainUnrun(aborted string, err error) {
	reason := notRun
	switch {
	case aborted != "":
		reason = "aborted: " + aborted
	case err != nil:
		reason = notRunBecause(err.Error())
	}
	for _, g := range l.Groups {
		if g.Background() && err == nil {
			for _, c := range l.Launchable(g) {
				if len(l.Case(c.Key).Launches) == 0 {
					l.SetReason(c.Key, results.Skipped,
						notRunBecause("it was background load only, and no launch of it was complete"))
				}
			}
		}
	}
	for _, c := range l.Doc.Cases {
		switch {
		case c.Reason == notRun && reason != notRun:
			l.SetReason(c.Key, results.Skipped, reason)
		case aborted != "" && c.Status == results.OK:
			c.Reason = fmt.Sprintf("%s, after %d launches", reason, countedLaunches(c))
		}
	}
}

// Close writes the last record and event, and closes their files.
func (l *Ledger) Close() error {
	e := l.Doc.Session
	err := l.Record(Record{End: &EndRecord{Status: e.Status, ExitCode: e.ExitCode, Reason: e.Reason}})
	l.Events.Emit(event.Event{
		Type: event.SessionFinished, Session: e.ID, Status: e.Status, Reason: e.Reason,
		Seconds: e.Finished.Sub(e.Started).Seconds(),
	})
	err = cmp.Or(err, l.Events.Err)
	if l.journal != nil {
		err = cmp.Or(err, l.journal.Close())
	}
	if l.Events.File != nil {
		err = cmp.Or(err, l.Events.File.Close())
	}
	return err
}

// Abandon closes the files of a session that did not begin, without writing.
func (l *Ledger) Abandon() {
	for _, f := range []*os.File{l.journal, l.Events.File} {
		if f != nil {
			f.Close()
		}
	}
}
