package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/planner"
)

// live shows a few lines on a terminal. It redraws them four times a second at most, to save CPU time
// for the measurement.
type live struct {
	mu       sync.Mutex
	state    *progressState
	warnings warnings
	out      io.Writer
	started  time.Time
	drawn    int // lines on the terminal
	stop     chan struct{}
	stopped  chan struct{}
}

func newLive(w io.Writer, p *planner.Plan) *live {
	l := &live{
		state: newProgressState(p), out: w, started: time.Now(),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	l.draw(l.frame(0))
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

func (l *live) OnEvent(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.OnEvent(e)
	for _, text := range []string{l.warnings.text(e), l.ended(e)} {
		if text != "" {
			l.draw(nil)
			Say(l.out, text)
		}
	}
}

// Close removes the lines.
func (l *live) Close() {
	close(l.stop)
	<-l.stopped
	l.draw(nil)
}

// draw replaces the drawn lines, in a single write. It erases line by line: terminal multiplexers keep what is erased
// with the whole screen in their history.
func (l *live) draw(lines []string) {
	var b strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", l.drawn)
	}
	columns := Width(l.out)
	for _, line := range lines {
		b.WriteString(fit(printable.Line(line), columns-1) + "\x1b[K\n")
	}
	if rest := l.drawn - len(lines); rest > 0 {
		b.WriteString(strings.Repeat("\x1b[K\n", rest) + fmt.Sprintf("\x1b[%dA\r", rest))
	}
	l.drawn = len(lines)
	_, _ = io.WriteString(l.out, b.String()) // a closed terminal must not end the measurement
}

// fits reports whether a line is shorter than a terminal is wide; 0: it is none.
func fits(line string, columns int) bool {
	return columns <= 0 || utf8.RuneCountInString(line) < columns
}

// fit truncates a line that would wrap, as a wrapped line cannot be redrawn.
func fit(line string, columns int) string {
	if columns <= 0 || utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:columns-1]) + "…"
}

const barLength = 16

// frame are the lines to draw: the current case, its estimate, and the progress of the session.
func (l *live) frame(elapsed time.Duration) []string {
	t := l.state
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
	if left := t.left(elapsed); left != "" {
		how += ", " + left
	}
	if joined := how + " · " + t.standing(); fits(joined, Width(l.out)) {
		lines = append(lines, joined)
	} else {
		lines = append(lines, how, "  "+t.standing())
	}
	if text := t.discards(); text != "" {
		lines = append(lines, "  "+text)
	}
	return lines
}
