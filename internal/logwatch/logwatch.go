// Package logwatch matches the lines of a program's output against regular expressions. For each
// expression it keeps the number of matching lines, their times, and the last of them, whatever the
// length of the output.
package logwatch

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// StampLayout is the format of the time at the beginning of a line, before a space.
const StampLayout = "2006-01-02T15:04:05.000000Z"

// MaxLine is the number of bytes of a line that are matched.
const MaxLine = 64 << 10

// Spec says which lines to match.
type Spec struct {
	Expressions []Expression `json:"expressions,omitempty"`
	// Stamped says that lines may begin with a time, which is not part of their text.
	Stamped bool `json:"stamped,omitempty"`
}

// Expression is a regular expression for lines.
type Expression struct {
	Text string `json:"text"`
	// Pod is a regular expression for the name of the line's pod; "" matches any line.
	Pod string `json:"pod,omitempty"`
}

// Match is the state of an expression.
type Match struct {
	Ever bool `json:"ever,omitempty"` // a line has matched since the start of the program
	// The other fields count lines since Begin.
	Count int64     `json:"count,omitempty"`
	First time.Time `json:"first,omitzero"` // of lines with times
	Last  time.Time `json:"last,omitzero"`
	Text  string    `json:"line,omitempty"` // the last line, without its time and pod
}

type compiled struct{ text, pod *regexp.Regexp }

// Watch matches the lines that are written to it.
type Watch struct {
	mu      sync.Mutex
	all     []compiled
	stamped bool
	matches []Match
	part    []byte // the incomplete line
}

// New returns an error for an invalid expression.
func New(s Spec) (*Watch, error) {
	w := &Watch{stamped: s.Stamped, matches: make([]Match, len(s.Expressions))}
	for _, e := range s.Expressions {
		text, err := regexp.Compile(e.Text)
		if err != nil {
			return nil, err
		}
		c := compiled{text: text}
		if e.Pod != "" {
			if c.pod, err = regexp.Compile(e.Pod); err != nil {
				return nil, err
			}
		}
		w.all = append(w.all, c)
	}
	return w, nil
}

// Write matches the lines that end in p, and keeps the incomplete one.
func (w *Watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		switch {
		case ended && len(w.part) == 0:
			addMatches(w.all, w.matches, line, w.stamped)
		case ended:
			w.keep(line)
			addMatches(w.all, w.matches, w.part, w.stamped)
			w.part = w.part[:0]
		default:
			w.keep(line)
		}
		rest = after
	}
	return len(p), nil
}

func (w *Watch) keep(part []byte) {
	w.part = append(w.part, part[:min(len(part), MaxLine-len(w.part))]...)
}

// Begin resets everything but Ever.
func (w *Watch) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.matches {
		w.matches[i] = Match{Ever: w.matches[i].Ever}
	}
}

// Ever reports whether a complete line has matched the expression with the index.
func (w *Watch) Ever(i int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.matches[i].Ever
}

// Matches returns the matches since Begin, including the incomplete line.
func (w *Watch) Matches() []Match {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append([]Match{}, w.matches...)
	if len(w.part) > 0 {
		addMatches(w.all, all, w.part, w.stamped)
	}
	return all
}

// addMatches adds a line to the matches of the expressions that match it.
func addMatches(all []compiled, matches []Match, line []byte, stamped bool) {
	line = bytes.TrimRight(line[:min(len(line), MaxLine)], "\r")
	var at time.Time
	if stamped {
		at, line = stamp(line)
	}
	pod, line := splitPod(line)
	for i, e := range all {
		if e.pod != nil && (pod == nil || !e.pod.Match(pod)) || !e.text.Match(line) {
			continue
		}
		m := &matches[i]
		m.Ever = true
		m.Count++
		m.Text = string(line)
		if !at.IsZero() {
			m.Last = at
			if m.First.IsZero() {
				m.First = at
			}
		}
	}
}

// stamp splits the time off a line.
func stamp(line []byte) (time.Time, []byte) {
	first, text, found := bytes.Cut(line, []byte(" "))
	if len(first) != len(StampLayout) || !found {
		return time.Time{}, line
	}
	at, err := time.Parse(StampLayout, string(first))
	if err != nil {
		return time.Time{}, line
	}
	return at, text
}

var (
	podBegins = []byte("[pod/")
	// ofPod matches the beginning of a line of a service in a cluster: its pod and container.
	ofPod = regexp.MustCompile(`^\[pod/([^/\]]+)/[^\]]*\] ?`)
)

// splitPod splits the pod off a line; nil if the line has none.
func splitPod(line []byte) (pod, text []byte) {
	if !bytes.HasPrefix(line, podBegins) {
		return nil, line
	}
	if m := ofPod.FindSubmatch(line); m != nil {
		return m[1], line[len(m[0]):]
	}
	return nil, line
}

// Check says why matches from another process do not fit the specification.
func (s Spec) Check(all []Match) error {
	if len(all) != len(s.Expressions) {
		return fmt.Errorf("%d matches of %d expressions", len(all), len(s.Expressions))
	}
	for _, m := range all {
		if len(m.Text) > MaxLine || m.Count < 0 {
			return fmt.Errorf("a line of %d bytes that matched %d times", len(m.Text), m.Count)
		}
	}
	return nil
}
