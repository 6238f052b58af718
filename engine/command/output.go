package command

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/steady"
)

// maxOutput limits the output kept for its parser.
const maxOutput = 16 << 20

// maxEnd limits the end of an output that is kept in addition.
const maxEnd = 64 << 10

// output keeps the beginning and the end of an output, and passes on all of it.
type output struct {
	mu     sync.Mutex
	most   int // of the beginning
	kept   bytes.Buffer
	last   []byte // the end of the rest
	passed int
	next   []func([]byte)
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.passed += len(p)
	fits := min(len(p), o.most-o.kept.Len())
	o.kept.Write(p[:fits])
	o.last = append(o.last, p[fits:]...)
	if len(o.last) > 4*maxEnd {
		o.last = append([]byte{}, o.last[len(o.last)-maxEnd:]...)
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

// end returns the end of the output.
func (o *output) end() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := o.kept.Bytes()
	text = append(bytes.Clone(text[max(0, len(text)-maxEnd):]), o.last...)
	return text[max(0, len(text)-maxEnd):]
}

// sight searches an output for a line until it is found.
type sight struct {
	watch *logwatch.Watch
	found *atomic.Bool // shared by all searches for the same line
}

func (s *sight) write(b []byte) {
	if s.found.Load() {
		return
	}
	_, _ = s.watch.Write(b) // never fails
	if s.watch.Ever(0) {
		s.found.Store(true)
	}
}

// lookFor makes outputs search for a line that matches an expression; "": none. found reports whether it was found.
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

// stamper writes to the log of a rank, if requested with the time before each line.
type stamper struct {
	to      io.Writer
	stamped bool
	clock   steady.Clock
	within  bool // within a line: its beginning is written
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
			out = s.clock.Now().AppendFormat(out, logwatch.StampLayout+" ")
		}
		out = append(out, line...)
		s.within = line[len(line)-1] != '\n'
	}
	_, _ = s.to.Write(out)
}
