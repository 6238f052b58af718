package screen

import (
	"fmt"
	"io"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/planner"
)

// Progress shows the progress of a session.
type Progress interface {
	OnEvent(event.Event)
	Close()
}

// NewProgress shows redrawn lines on a terminal, a line per case elsewhere, or nothing with --quiet.
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

func (silent) OnEvent(event.Event) {}
func (silent) Close()              {}

// quietTime is the time without a line after which any measured case gets one.
const quietTime = 20 * time.Second

// plainLines is for logs: no control codes, and a line for each case when it ends. Before, launches get a line only
// after quietTime.
type plainLines struct {
	w         io.Writer
	state     *progressState
	warnings  warnings
	started   time.Time
	last      time.Time // when the last line was written
	discarded bool      // a line about discarded launches was written
}

func newPlainLines(w io.Writer, p *planner.Plan) *plainLines {
	now := time.Now()
	return &plainLines{w: w, state: newProgressState(p), started: now, last: now}
}

func (p *plainLines) OnEvent(e event.Event) {
	p.state.OnEvent(e)
	switch {
	case e.Type == event.CaseEnded && p.state.plan[e.Case] != nil:
		p.write(p.state.ended(e.Case, printable.Line(e.Case)))
	case e.Type == event.CaseMeasured && e.Failure == nil:
		if !e.Background {
			p.measured(e)
		}
	default:
		if text := p.warnings.text(e); text != "" {
			p.write(text)
		}
	}
}

// measured writes a line for a measured case after quietTime.
func (p *plainLines) measured(e event.Event) {
	if e.Discarded != "" {
		if !p.discarded {
			p.discarded = true
			p.write("launches are discarded: " + printable.Text(e.Discarded))
		}
		return
	}
	if time.Since(p.last) < quietTime {
		return
	}
	p.write(fmt.Sprintf("%s launch %d/%d: %s", printable.Line(e.Case), p.state.launch, p.state.launches,
		printable.Line(p.state.brief(e.Case, e.Metrics)+p.progress())))
}

// progress is the completed share of what is known to be ahead, and the remaining time; "" at a look, which decides
// how much is ahead.
func (p *plainLines) progress() string {
	left := p.state.left(time.Since(p.started))
	if left == "" {
		return ""
	}
	return fmt.Sprintf(" (%d %%, %s)", 100*p.state.done()/p.state.total(), left)
}

func (p *plainLines) write(text string) {
	fmt.Fprintln(p.w, text)
	p.last = time.Now()
}

func (p *plainLines) Close() {}
