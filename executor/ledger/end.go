package ledger

import (
	"cmp"
	"fmt"
	"os"

	"weir/executor/event"
	"weir/results"
)

// Unjudged completes a document that no gate looks at: all it can say is whether
// everything ran.
func (l *Ledger) Unjudged(aborted bool) {
	d := l.Doc
	d.Summarize()
	if d.Session.Reason == "" { // the gate counts them by itself
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

// Settle gives the cases that were not reached their reason. aborted says what ended the
// session from outside, "" if nothing did, and err why it could not be carried through.
func (l *Ledger) Settle(aborted string, err error) {
	reason := notRun
	switch {
	case aborted != "":
		reason = "aborted: " + aborted
	case err != nil:
		reason = unrun(err.Error())
	}
	for _, g := range l.Groups {
		if g.Background() && err == nil {
			for _, c := range l.Live(g) {
				if len(l.Case(c.Key).Launches) == 0 {
					l.Leave(c.Key, results.Skipped, unrun("it was background load only, and no launch of it was complete"))
				}
			}
		}
	}
	for _, c := range l.Doc.Cases {
		switch {
		case c.Reason == notRun && reason != notRun:
			l.Leave(c.Key, results.Skipped, reason)
		case aborted != "" && c.Status == results.OK:
			c.Reason = fmt.Sprintf("%s, after %d launches", reason, counted(c))
		}
	}
}

// Close ends journal and events.
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

// Drop closes the files of a session that did not begin, and writes nothing.
func (l *Ledger) Drop() {
	for _, f := range []*os.File{l.journal, l.Events.File} {
		if f != nil {
			f.Close()
		}
	}
}
