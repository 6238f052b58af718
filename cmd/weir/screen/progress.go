package screen

import (
	"fmt"
	"io"
	"time"

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
	return newPlainLines(w, p)
}

type silent struct{}

func (silent) See(event.Event) {}
func (silent) Close()          {}

// sign is after how long without a line a log gets one although no case is done.
const sign = 20 * time.Second

// plainLines is for logs: no control codes, and a line for each case when its first look is complete. What is
// launched again after that, or takes long, has a line when none was written for a while.
type plainLines struct {
	w       io.Writer
	tally   *tally
	mishaps mishaps
	started time.Time
	last    time.Time // when the last line was written
	done    map[string]bool
	lost    bool // a launch that does not count was told of
}

func newPlainLines(w io.Writer, p *planner.Plan) *plainLines {
	now := time.Now()
	return &plainLines{w: w, tally: newTally(p), started: now, last: now, done: map[string]bool{}}
}

func (p *plainLines) See(e event.Event) {
	p.tally.See(e)
	switch {
	case e.Type == event.CaseMeasured && e.Failure == nil:
		if !e.Background {
			p.measured(e)
		}
	default:
		if text := p.mishaps.text(e); text != "" {
			p.write(text)
		}
	}
}

// measured tells of a case that has come to its first look, or of any where the last line is old.
func (p *plainLines) measured(e event.Event) {
	if e.Void != "" {
		if !p.lost {
			p.lost = true
			p.write("launches are discarded and made again: " + printable.Text(e.Void))
		}
		return
	}
	complete := p.tally.complete(e.Case) && !p.done[e.Case]
	if !complete && time.Since(p.last) < sign {
		return
	}
	p.done[e.Case] = p.done[e.Case] || complete
	p.write(fmt.Sprintf("%s launch %d/%d: %s", printable.Line(e.Case), p.tally.launch, p.tally.launches,
		printable.Line(p.tally.brief(e.Case, e.Metrics)+p.progress())))
}

// progress is the share of the session that is done, and the time that is left.
func (p *plainLines) progress() string {
	done, total := p.tally.done(), p.tally.total()
	if total == 0 {
		return ""
	}
	text := fmt.Sprintf(" (%d %%", 100*done/total)
	if left, ok := p.tally.left(time.Since(p.started)); ok && done < total {
		text += ", ~" + left.Round(time.Second).String() + " left"
	}
	return text + ")"
}

func (p *plainLines) write(text string) {
	fmt.Fprintln(p.w, text)
	p.last = time.Now()
}

func (p *plainLines) Close() {}
