package screen

import (
	"fmt"
	"io"

	"weir/executor/event"
	"weir/planner"
	"weir/printable"
)

// Progress shows a person how far a session is.
type Progress interface {
	See(event.Event)
	Close()
}

// NewProgress chooses how: a few lines that are drawn over on a terminal, a plain line for each
// measured case elsewhere, nothing if nothing is wanted.
func NewProgress(w io.Writer, p *planner.Plan, style Style) Progress {
	switch {
	case style.Quiet:
		return silent{}
	case isTerminal(w):
		return newLive(w, p)
	}
	return &plainLines{w: w, tally: newTally(p)}
}

type silent struct{}

func (silent) See(event.Event) {}
func (silent) Close()          {}

// plainLines is for logs: no control codes, one line for each measured case.
type plainLines struct {
	w       io.Writer
	tally   *tally
	mishaps mishaps
}

func (p *plainLines) See(e event.Event) {
	p.tally.See(e)
	switch {
	case e.Type == event.CaseMeasured && e.Failure == nil:
		if !e.Background {
			fmt.Fprintf(p.w, "%s launch %d/%d: %s\n", printable.Line(e.Case), p.tally.launch, p.tally.launches,
				printable.Line(p.tally.brief(e.Case, e.Metrics)+voided(e)))
		}
	default:
		if text := p.mishaps.text(e); text != "" {
			fmt.Fprintln(p.w, text)
		}
	}
}

func (p *plainLines) Close() {}

// voided says that a launch does not count.
func voided(e event.Event) string {
	if e.Void == "" {
		return ""
	}
	return ", void: " + e.Void
}
