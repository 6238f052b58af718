// This file completes the document, after session.run has returned.

package executor

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/ledger"
)

// Exit codes of a session that was ended from outside.
const (
	exitTimeout     = 124
	exitInterrupted = 130
)

// conclude completes the document: every case has a status and a reason, the gate has judged, and the session has
// its outcome.
func (s *session) conclude(ctx context.Context, err error) error {
	err = cmp.Or(err, s.ledger.Err)
	if r, ok := errors.AsType[*ledger.Refusal](err); ok {
		return s.refused(r)
	}
	cause := context.Cause(ctx)
	aborted := cause != nil && err != nil
	why := ""
	if aborted {
		why = cancelReason(err)
	}
	s.ledger.ExplainUnrun(why, err)
	session := &s.ledger.Doc.Session
	_, early := errors.AsType[*ledger.FailFastError](err)
	_, check := errors.AsType[*checkError](err)
	_, alone := errors.AsType[*fleet.TooFewError](err)
	_, unready := errors.AsType[*ledger.CommandError](err)
	switch {
	case aborted:
		session.ExitCode, session.Reason = abortCode(cause), cancelReason(cause)
		err = cause
	case early: // the failed case or assertion has its own reason
		err = nil
	case check, alone, unready:
		session.Reason = err.Error()
		err = nil
	case err != nil:
		session.Reason = err.Error()
	case len(s.missingResources) > 0:
		session.Reason = "missing: " + strings.Join(s.missingResources, "; ")
	case len(s.ledger.TeardownFailures) > 0:
		session.Reason = strings.Join(s.ledger.TeardownFailures, "; ")
	}
	session.Finished = s.ledger.At(time.Now())
	if s.o.Judge != nil {
		s.ledger.Judge()
		s.ledger.TellEnded()
	} else {
		s.ledger.FinishUnjudged(aborted)
	}
	return cmp.Or(err, s.ledger.Close())
}

// refused ends a session that did not begin; it writes no file.
func (s *session) refused(r *ledger.Refusal) error {
	s.ledger.Doc.Session.ExitCode, s.ledger.Doc.Session.Reason = r.Code, r.Error()
	s.ledger.Abandon()
	return r
}

// abortCode is the exit code of a session that was ended from outside. A cause may have its own, as a signal has.
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
