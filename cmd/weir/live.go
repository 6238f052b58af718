package main

import (
	"fmt"
	"io"
	"time"

	pretty "github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"

	"weir/executor"
	"weir/planner"
)

// liveLine is one line on a terminal that is drawn over and over, four times a
// second at most: the processors belong to the measurement.
type liveLine struct {
	tally    *tally
	mishaps  mishaps
	out      io.Writer
	writer   pretty.Writer
	tracker  *pretty.Tracker
	rendered chan struct{}
}

// besideMessage is how many columns the bar, the counts and the times take.
const besideMessage = 64

func newLiveLine(w io.Writer, p *planner.Plan, color bool) *liveLine {
	l := &liveLine{tally: newTally(p), out: w, writer: pretty.NewWriter(), rendered: make(chan struct{})}
	// not RemoveOnCompletion: go-pretty does not draw over such a line, it adds one each time
	l.tracker = &pretty.Tracker{Message: l.tally.line(), Total: int64(l.tally.total())}
	l.writer.SetOutputWriter(w)
	l.writer.SetUpdateFrequency(time.Second / 4)
	l.writer.SetTrackerPosition(pretty.PositionRight)
	l.writer.SetTrackerLength(20)
	l.writer.SetAutoStop(false)
	if columns := width(w); columns > 0 { // a line that wraps cannot be drawn over
		l.writer.SetMessageLength(max(20, min(60, columns-besideMessage)))
	}
	if color {
		l.writer.SetStyle(pretty.StyleBlocks)
		l.writer.Style().Colors = pretty.StyleColorsExample
	}
	l.writer.Style().Options.TimeInProgressPrecision = time.Second
	l.writer.Style().Visibility.ETA = true
	l.writer.Style().Visibility.Value = true
	l.writer.Style().Visibility.Speed = false
	l.writer.AppendTracker(l.tracker)
	go func() {
		defer close(l.rendered)
		l.writer.Render()
	}()
	return l
}

func (l *liveLine) see(e executor.Event) {
	l.tally.see(e)
	if what := l.mishaps.text(e); what != "" {
		l.writer.Log("%s", what)
	}
	l.tracker.UpdateMessage(l.tally.line())
	l.tracker.UpdateTotal(int64(l.tally.total()))
	// a full bar would end the tracker although more launches may be asked for
	l.tracker.SetValue(int64(min(l.tally.done(), l.tally.total()-1)))
}

// close removes the line; the table says what it said.
func (l *liveLine) close() {
	l.tracker.MarkAsDone()
	l.writer.Stop()
	<-l.rendered
	fmt.Fprint(l.out, text.CursorUp.Sprint(), text.EraseLine.Sprint())
}
