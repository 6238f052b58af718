package launcher

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/weir-bench/weir/internal/printable"
)

// Limits of Lines.
const (
	maxLines = 200
	maxLine  = 1 << 10 // bytes of each
)

// Lines is a writer that keeps the last lines, without control sequences.
type Lines struct {
	mu     sync.Mutex
	kept   []string
	before int    // number of dropped lines
	part   []byte // of an unfinished line
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

// All are the lines so far, including an unfinished one; a first line has the number of dropped ones.
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

// Last is the last line that is not blank, or "".
func (l *Lines) Last() string {
	all := l.All()
	for i := len(all) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(all[i]); line != "" {
			return line
		}
	}
	return ""
}

// Printable removes control sequences, and the carriage returns at the end of ssh's own lines.
func Printable(s string) string { return printable.Line(strings.ReplaceAll(s, "\r", "")) }
