package launch

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"weir/printable"
)

// What Lines keeps at most.
const (
	maxLines = 200
	maxLine  = 1 << 10 // bytes of each
)

// Lines keeps the last lines of what is written to it, for errors and reports. What
// a terminal would take for commands is replaced: a host may say anything.
type Lines struct {
	mu     sync.Mutex
	kept   []string
	before int    // how many are no longer kept
	part   []byte // of a line that has not ended
}

// Write never fails.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		l.part = append(l.part, line[:min(len(line), max(0, maxLine-len(l.part)))]...)
		if ended {
			l.keep(string(l.part))
			l.part = l.part[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (l *Lines) keep(line string) {
	l.kept = append(l.kept, Printable(line))
	if len(l.kept) > maxLines {
		l.kept = l.kept[1:]
		l.before++
	}
}

// All are the lines so far, with one that has not ended, and with a first one that says
// how many are missing.
func (l *Lines) All() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	if l.before > 0 {
		all = append(all, fmt.Sprintf("… %d lines before", l.before))
	}
	all = append(all, l.kept...)
	if len(l.part) > 0 {
		all = append(all, Printable(string(l.part)))
	}
	return all
}

// Last is the last line that says anything, "" if none does.
func (l *Lines) Last() string {
	all := l.All()
	for i := len(all) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(all[i]); line != "" {
			return line
		}
	}
	return ""
}

// Printable keeps what a host says from doing anything to a terminal. ssh ends its own lines
// with a carriage return, which goes.
func Printable(s string) string { return printable.Line(strings.ReplaceAll(s, "\r", "")) }
