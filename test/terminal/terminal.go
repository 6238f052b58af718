// Package terminal shows tests what users see on a terminal: an emulator behind a pseudo-terminal.
//
// It is test support: no package of weir itself may import it.
package terminal

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Terminal is a terminal emulator behind a pseudo-terminal.
type Terminal struct {
	// Out is the end of the pseudo-terminal to which programs write.
	Out *os.File

	t       testing.TB
	columns int

	mu     sync.Mutex
	vt     *vt.Emulator
	raw    bytes.Buffer // All output
	marked chan struct{}
	ended  chan struct{}
}

// mark is a control sequence without an effect on the screen, by which the emulator reports how far it is.
const mark = "\x1b]2;mark\x07"

// New starts an emulator of a size.
func New(t testing.TB, columns, rows uint16) *Terminal {
	t.Helper()
	master, slave := Open(t, columns, rows)
	e := &Terminal{
		t: t, columns: int(columns), Out: slave, vt: vt.NewEmulator(int(columns), int(rows)),
		marked: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	e.vt.SetScrollbackSize(50_000)
	go e.read(master)
	return e
}

// read passes output to the emulator until the pseudo-terminal is closed.
func (e *Terminal) read(master *os.File) {
	defer close(e.ended)
	buffer := make([]byte, 64<<10)
	for {
		n, err := master.Read(buffer)
		if n > 0 {
			e.mu.Lock()
			seen := max(0, e.raw.Len()-len(mark)+1) // a mark may come in pieces
			e.raw.Write(buffer[:n])
			_, _ = e.vt.Write(buffer[:n]) // into memory
			found := bytes.Contains(e.raw.Bytes()[seen:], []byte(mark))
			e.mu.Unlock()
			if found {
				e.marked <- struct{}{}
			}
		}
		if err != nil {
			return
		}
	}
}

// Settle waits until the emulator has all output.
func (e *Terminal) Settle() {
	e.t.Helper()
	if _, err := e.Out.WriteString(mark); err != nil {
		e.t.Fatal(err)
	}
	select {
	case <-e.marked:
	case <-time.After(time.Minute):
		e.t.Fatal("the emulator has not got all output after a minute")
	}
}

// Close closes the terminal and waits for the last output.
func (e *Terminal) Close() {
	e.Out.Close()
	<-e.ended
}

// Rows are the lines of the screen, without empty ones at its end.
func (e *Terminal) Rows() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return trimmed(strings.Split(e.vt.String(), "\n"))
}

// Colored is the screen with its colours.
func (e *Terminal) Colored() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(trimmed(strings.Split(e.vt.Render(), "\n")), "\n")
}

// History are the lines that have left the screen at its top.
func (e *Terminal) History() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var lines []string
	for _, line := range e.vt.Scrollback().Lines() {
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// All are the lines in the history and on the screen.
func (e *Terminal) All() []string { return append(e.History(), e.Rows()...) }

// Wrapped are the lines that were longer than the terminal is wide.
func (e *Terminal) Wrapped() (long []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for line := range strings.Lines(strings.ReplaceAll(e.raw.String(), mark, "")) {
		for part := range strings.SplitSeq(strings.TrimRight(line, "\r\n"), "\r") {
			if text.StringWidthWithoutEscSequences(part) > e.columns {
				long = append(long, part)
			}
		}
	}
	return long
}

func trimmed(lines []string) []string {
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	empty := func(s string) bool { return text.StripEscape(s) == "" }
	last := len(lines) - 1
	for last >= 0 && empty(lines[last]) {
		last--
	}
	return slices.Clone(lines[:last+1])
}
