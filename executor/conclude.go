package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"weir/results"
)

// Exit codes that the gate cannot give, because they say how the session ended
// and not what it measured; and the one of a session that no gate judges.
const (
	exitUsage       = 4
	exitError       = 6
	exitStale       = 7
	exitTimeout     = 124
	exitInterrupted = 130
)

// conclude completes the document: everything that was planned has a status and
// a reason, the gate has seen it all, and the session has its outcome.
func (s *session) conclude(ctx context.Context, err error) error {
	err = firstError(err, s.journalErr)
	if r, ok := errors.AsType[*Refusal](err); ok {
		return s.refused(r)
	}
	cause := context.Cause(ctx)
	aborted := cause != nil && err != nil
	s.settle(err, aborted)
	session := &s.doc.Session
	_, early := errors.AsType[*failFastError](err)
	_, check := errors.AsType[*checkError](err)
	_, unready := errors.AsType[*setupError](err)
	switch {
	case aborted:
		session.ExitCode, session.Reason = abortCode(cause), cancelReason(cause)
		err = cause
	case early: // what failed says so itself
		err = nil
	case check, unready:
		session.Reason = err.Error()
		err = nil
	case err != nil:
		session.Reason = err.Error()
	case len(s.missing) > 0:
		session.Reason = "missing: " + strings.Join(s.missing, "; ")
	case len(s.untidy) > 0:
		session.Reason = strings.Join(s.untidy, "; ")
	}
	session.Finished = time.Now().UTC()
	if s.o.Judge != nil {
		s.judge()
	} else {
		s.unjudged(aborted)
	}
	return firstError(err, s.closeFiles())
}

// refused ends a session that did not begin, and writes nothing.
func (s *session) refused(r *Refusal) error {
	s.doc.Session.ExitCode, s.doc.Session.Reason = r.Code, r.Error()
	for _, f := range []*os.File{s.journal, s.events} {
		if f != nil {
			f.Close()
		}
	}
	return r
}

// unjudged completes a document that no gate looks at: all it can say is whether
// everything ran.
func (s *session) unjudged(aborted bool) {
	d := s.doc
	d.Summarize()
	if d.Session.Reason == "" { // the gate counts them by itself
		d.Session.Reason = s.lacksArtifacts()
	}
	switch {
	case aborted:
		d.Session.Status = results.Aborted
	case d.Session.Reason != "" || d.Summary.Cases[results.Error] > 0:
		d.Session.Status, d.Session.ExitCode = results.Errored, exitError
	default:
		d.Session.Status = results.Passed
	}
}

// settle gives the cases that were not reached their reason.
func (s *session) settle(err error, aborted bool) {
	reason := notRun
	switch {
	case aborted:
		reason = "aborted: " + cancelReason(err)
	case err != nil:
		reason = unrun(err.Error())
	}
	for _, g := range s.groups {
		if g.background() && err == nil {
			for _, c := range s.live(g) {
				if len(s.caseOf(c.Key).Launches) == 0 {
					s.leave(c.Key, results.Skipped, unrun("it was background load only, and no launch of it was complete"))
				}
			}
		}
	}
	for _, c := range s.doc.Cases {
		switch {
		case c.Reason == notRun && reason != notRun:
			s.leave(c.Key, results.Skipped, reason)
		case aborted && c.Status == results.OK:
			c.Reason = fmt.Sprintf("%s, after %d launches", reason, counted(c))
		}
	}
}

// abortCode is the exit code of a session that was ended from outside. A cause
// may bring its own, as a signal does.
func abortCode(cause error) int {
	var own interface{ ExitCode() int }
	switch {
	case errors.As(cause, &own):
		return own.ExitCode()
	case errors.Is(cause, context.DeadlineExceeded):
		return exitTimeout
	}
	return exitInterrupted
}

func (s *session) closeFiles() error {
	e := s.doc.Session
	err := s.record(Record{End: &EndRecord{Status: e.Status, ExitCode: e.ExitCode, Reason: e.Reason}})
	s.emit(Event{Type: SessionFinished, Session: e.ID, Status: e.Status, Reason: e.Reason, Seconds: e.Finished.Sub(e.Started).Seconds()})
	err = firstError(err, s.eventErr)
	if s.journal != nil {
		err = firstError(err, s.journal.Close())
	}
	if s.events != nil {
		err = firstError(err, s.events.Close())
	}
	return err
}
