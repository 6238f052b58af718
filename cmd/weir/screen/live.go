package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"weir/executor/event"
	"weir/planner"
	"weir/printable"
)

// live is a few lines on a terminal that are drawn over and over, four times a
// second at most: the processors belong to the measurement.
type live struct {
	mu      sync.Mutex
	tally   *tally
	mishaps mishaps
	out     io.Writer
	started time.Time
	drawn   int // lines that stand on the terminal
	stop    chan struct{}
	stopped chan struct{}
}

func newLive(w io.Writer, p *planner.Plan) *live {
	l := &live{tally: newTally(p), out: w, started: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	go l.redraw()
	return l
}

func (l *live) redraw() {
	defer close(l.stopped)
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.mu.Lock()
			l.draw(l.frame(time.Since(l.started)))
			l.mu.Unlock()
		}
	}
}

func (l *live) See(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally.See(e)
	if what := l.mishaps.text(e); what != "" {
		l.draw(nil)
		fmt.Fprintln(l.out, what)
	}
}

// Close removes the lines; the table says what they said.
func (l *live) Close() {
	close(l.stop)
	<-l.stopped
	l.draw(nil)
}

// draw puts lines in the place of those that stand there. All of it is one write, so that
// nobody sees half.
func (l *live) draw(lines []string) {
	var b strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", l.drawn)
	}
	columns := Width(l.out)
	for _, line := range lines {
		b.WriteString(fit(printable.Line(line), columns-1) + "\n")
	}
	l.drawn = len(lines)
	_, _ = io.WriteString(l.out, b.String()) // a terminal that is gone must not end the measurement
}

// fit cuts a line that would wrap, for one that wraps cannot be drawn over.
func fit(line string, columns int) string {
	if columns <= 0 || utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:columns-1]) + "…"
}

const barLength = 16

// frame is what is under way, what it has shown until now, and how far the session is.
func (l *live) frame(elapsed time.Duration) []string {
	t := l.tally
	lines := []string{t.line()}
	if text := t.estimate(); text != "" {
		lines = append(lines, "  "+text)
	}
	done, total := t.done(), t.total()
	full := 0
	if total > 0 {
		full = barLength * done / total
	}
	made, launches := t.launchesMade()
	how := fmt.Sprintf("%s%s %d/%d launches, %s", strings.Repeat("█", full), strings.Repeat("░", barLength-full), made,
		launches, elapsed.Round(time.Second))
	if left, ok := t.left(elapsed); ok {
		how += ", ~" + left.Round(time.Second).String() + " left"
	}
	return append(lines, how+" · "+t.standing())
}
