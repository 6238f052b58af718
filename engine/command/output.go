package command

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"weir/logwatch"
)

// mostOutput bounds what is kept of an output for its parser.
const mostOutput = 16 << 20

// mostEnd is how much of the end of an output is kept besides.
const mostEnd = 64 << 10

// output keeps the beginning of what is printed, and its end, and passes all of it on.
type output struct {
	mu     sync.Mutex
	most   int // of the beginning
	kept   bytes.Buffer
	last   []byte // the end of what did not fit
	passed int
	next   []func([]byte)
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.passed += len(p)
	fits := min(len(p), o.most-o.kept.Len())
	o.kept.Write(p[:fits])
	o.last = append(o.last, p[fits:]...)
	if len(o.last) > 4*mostEnd {
		o.last = append([]byte{}, o.last[len(o.last)-mostEnd:]...)
	}
	o.mu.Unlock()
	for _, pass := range o.next {
		pass(p)
	}
	return len(p), nil
}

func (o *output) text() (text []byte, whole bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.kept.Bytes()), o.passed == o.kept.Len()
}

// end is the end of what was printed.
func (o *output) end() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := o.kept.Bytes()
	text = append(bytes.Clone(text[max(0, len(text)-mostEnd):]), o.last...)
	return text[max(0, len(text)-mostEnd):]
}

// sight looks for a line in an output until it has come.
type sight struct {
	watch *logwatch.Watch
	found *atomic.Bool // by any of those that look for the same
}

func (s *sight) write(b []byte) {
	if s.found.Load() {
		return
	}
	_, _ = s.watch.Write(b) // does not fail
	if s.watch.Ever(0) {
		s.found.Store(true)
	}
}

// lookFor has outputs look for a line that matches an expression; "": for none. found says whether
// it has come.
func lookFor(expression string, outputs ...*output) (found *atomic.Bool, err error) {
	found = &atomic.Bool{}
	if expression == "" {
		return found, nil
	}
	for _, o := range outputs {
		w, err := logwatch.New(logwatch.Spec{Expressions: []logwatch.Expression{{Text: expression}}})
		if err != nil {
			return nil, err
		}
		o.next = append(o.next, (&sight{w, found}).write)
	}
	return found, nil
}

// stamper writes to the log of a rank, with the time before each line where that is asked for.
type stamper struct {
	to      io.Writer
	stamped bool
	within  bool // of a line whose beginning is written
	mu      sync.Mutex
}

func (s *stamper) write(b []byte) {
	if !s.stamped {
		_, _ = s.to.Write(b)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []byte
	for line := range bytes.Lines(b) {
		if !s.within {
			out = time.Now().UTC().AppendFormat(out, logwatch.StampLayout+" ")
		}
		out = append(out, line...)
		s.within = line[len(line)-1] != '\n'
	}
	_, _ = s.to.Write(out)
}
