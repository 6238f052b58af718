// Package logwatch looks for lines in what a program prints while it passes, whatever its length:
// of each regular expression it keeps how many lines matched, when, and the last of them.
package logwatch

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// StampLayout is how a line begins that has a time, with a space behind it.
const StampLayout = "2006-01-02T15:04:05.000000Z"

// MaxLine is how much of a line is looked at, in bytes.
const MaxLine = 64 << 10

// Spec says what is looked for.
type Spec struct {
	Expressions []Expression `json:"expressions,omitempty"`
	// Stamped says that lines may begin with their times, which are not part of their texts.
	Stamped bool `json:"stamped,omitempty"`
}

// Expression is one that lines may match.
type Expression struct {
	Text string `json:"text"`
	// Pod is one that the name of the line's pod matches; "": any line will do.
	Pod string `json:"pod,omitempty"`
}

// Match is what was seen of an expression.
type Match struct {
	Ever bool `json:"ever,omitempty"` // a line matched since the start of the program
	// The others are about lines since the watch began anew.
	Count int64     `json:"count,omitempty"`
	First time.Time `json:"first,omitzero"` // of lines that have times
	Last  time.Time `json:"last,omitzero"`
	Text  string    `json:"line,omitempty"` // of the last line, without its time and pod
}

type compiled struct{ text, pod *regexp.Regexp }

// Watch looks at what is written to it.
type Watch struct {
	mu      sync.Mutex
	all     []compiled
	stamped bool
	matches []Match
	part    []byte // of a line that has not ended
}

// New fails for an expression that is none.
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

// Write looks at the lines that end in p. It keeps the one that does not.
func (w *Watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		switch {
		case ended && len(w.part) == 0:
			look(w.all, w.matches, line, w.stamped)
		case ended:
			w.keep(line)
			look(w.all, w.matches, w.part, w.stamped)
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

// Begin forgets all but that something ever matched.
func (w *Watch) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.matches {
		w.matches[i] = Match{Ever: w.matches[i].Ever}
	}
}

// Ever says whether a line that has ended has matched the expression of that index.
func (w *Watch) Ever(i int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.matches[i].Ever
}

// Matches is what was seen since Begin. A line that has not ended counts.
func (w *Watch) Matches() []Match {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append([]Match{}, w.matches...)
	if len(w.part) > 0 {
		look(w.all, all, w.part, w.stamped)
	}
	return all
}

// look adds a line to the matches of the expressions that it matches.
func look(all []compiled, matches []Match, line []byte, stamped bool) {
	line = bytes.TrimRight(line[:min(len(line), MaxLine)], "\r")
	var at time.Time
	if stamped {
		at, line = stamp(line)
	}
	pod, line := apart(line)
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

// stamp takes the time off a line that has one.
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
	// ofPod is how a line of a service in a cluster begins: with the pod and container that it is of.
	ofPod = regexp.MustCompile(`^\[pod/([^/\]]+)/[^\]]*\] ?`)
)

// apart takes the pod off a line; nil: it names none.
func apart(line []byte) (pod, text []byte) {
	if !bytes.HasPrefix(line, podBegins) {
		return nil, line
	}
	if m := ofPod.FindSubmatch(line); m != nil {
		return m[1], line[len(m[0]):]
	}
	return nil, line
}

// Check says why matches cannot be those of a specification: they come from another process.
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
