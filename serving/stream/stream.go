// Package stream reads the answers of an OpenAI-compatible endpoint: server-sent events, or one
// JSON document. It says when what was generated came, and how the answer ended.
package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"weir/serving"
)

// mostEvent bounds an event, and a whole answer that is no stream.
const mostEvent = 1 << 20

// readBytes is the buffer of a read: ten thousand streams that are open have one each.
const readBytes = 4 << 10

var buffers = sync.Pool{New: func() any { return new([readBytes]byte) }}

// Reader reads one answer into a record.
type Reader struct {
	rec *serving.Record
	now func() int64
	// progress is called after each read, with what has been generated until then: events, and
	// whether to go on.
	progress func(events int) (more bool)

	line     []byte // that is not complete
	data     []byte // of the event that is not complete
	said     said   // by the last event
	answer   strings.Builder
	finished bool // a finish reason, or [DONE]
	usage    bool
	fresh    int // generation events of the read
}

// ErrStopped says that progress did not want more.
var ErrStopped = errors.New("stopped")

// NewReader makes one. now gives nanoseconds on the clock of the record.
func NewReader(rec *serving.Record, now func() int64, progress func(events int) bool) *Reader {
	return &Reader{rec: rec, now: now, progress: progress}
}

// fault is an answer that cannot be used.
type fault struct {
	outcome serving.Outcome
	text    string
}

func (f *fault) Error() string { return f.text }

func malformed(format string, args ...any) error {
	return &fault{serving.Malformed, fmt.Sprintf(format, args...)}
}

// Events reads server-sent events until their end. An error of the body, and ErrStopped, are
// returned; what is wrong with the answer itself stands in the record.
func (r *Reader) Events(body io.Reader) error {
	kept := buffers.Get().(*[readBytes]byte)
	defer buffers.Put(kept)
	buf := kept[:]
	var err error
	for err == nil {
		var n int
		n, err = body.Read(buf)
		at := r.now()
		r.fresh = 0
		if n > 0 {
			if wrong := r.feed(buf[:n], at); wrong != nil {
				return r.end(at, wrong)
			}
			if r.progress != nil && !r.progress(len(r.rec.Events)) {
				r.rec.Done = at
				return ErrStopped
			}
		}
	}
	at := r.now()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if r.finished {
		return r.end(at, nil) // whatever became of the connection afterwards
	}
	if err != nil {
		r.rec.Done = at
		return err
	}
	return r.end(at, &fault{serving.Truncated, "the answer ended without a finish reason or [DONE]"})
}

// end fills the record when all has been read.
func (r *Reader) end(at int64, wrong error) error {
	rec := r.rec
	rec.Done, rec.Answer = at, r.answer.String()
	if f, ok := errors.AsType[*fault](wrong); ok {
		rec.Outcome, rec.Error = f.outcome, f.text
		return nil
	}
	if wrong != nil {
		return wrong
	}
	if len(rec.Events) == 0 && rec.Last == serving.Never {
		rec.Outcome, rec.Error = serving.Empty, "the answer ended well and generated nothing"
	}
	if !r.usage && rec.Outcome == serving.OK {
		rec.Output, rec.Source = len(rec.Events), serving.ByEvents
	}
	return nil
}

// feed takes what one read brought.
func (r *Reader) feed(b []byte, at int64) error {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			if len(r.line)+len(b) > mostEvent {
				return malformed("a line of more than %d bytes", mostEvent)
			}
			r.line = append(r.line, b...)
			return nil
		}
		line := b[:i]
		if len(r.line) > 0 {
			r.line = append(r.line, line...)
			line = r.line
		}
		b = b[i+1:]
		if err := r.take(bytes.TrimSuffix(line, []byte("\r")), at); err != nil {
			return err
		}
		r.line = r.line[:0]
	}
	return nil
}

// take takes a line of an event stream, as the HTML standard has it, section 9.2.
func (r *Reader) take(line []byte, at int64) error {
	if len(line) == 0 {
		if len(r.data) == 0 {
			return nil
		}
		err := r.event(r.data, at)
		r.data = r.data[:0]
		return err
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if string(name) != "data" { // a comment, or another field
		return nil
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	if len(r.data)+len(value) > mostEvent {
		return malformed("an event of more than %d bytes", mostEvent)
	}
	if len(r.data) > 0 {
		r.data = append(r.data, '\n')
	}
	r.data = append(r.data, value...)
	return nil
}

var doneMark = []byte("[DONE]")

// event takes the data of one event.
func (r *Reader) event(data []byte, at int64) error {
	if bytes.Equal(bytes.TrimSpace(data), doneMark) {
		r.finished = true
		return nil
	}
	if !r.said.scan(data) {
		if err := r.said.read(data); err != nil {
			return err
		}
	}
	said := &r.said
	if said.counted {
		r.takeUsage(said)
	}
	r.answer.Write(said.content)
	r.finished = r.finished || said.finished
	if len(said.content) == 0 && !said.thought {
		return nil
	}
	rec := r.rec
	if rec.First == serving.Never {
		rec.First = at
	}
	if len(said.content) > 0 && rec.FirstContent == serving.Never {
		rec.FirstContent = at
	}
	tokens := serving.Unknown
	if said.counted {
		tokens = said.usage.Completion
	}
	rec.Last = at
	rec.Events = append(rec.Events, serving.Event{At: at, Tokens: tokens, Coalesced: r.fresh > 0})
	r.fresh++
	return nil
}

func (r *Reader) takeUsage(s *said) {
	r.usage = true
	r.rec.Input, r.rec.Output, r.rec.Source = s.usage.Prompt, s.usage.Completion, serving.ByUsage
	if s.detailed {
		r.rec.Cached = s.cached
	}
}

// Whole reads an answer that is one JSON document. Its tokens have no times.
func (r *Reader) Whole(body io.Reader) error {
	content, err := io.ReadAll(io.LimitReader(body, 64*mostEvent+1))
	at := r.now()
	r.rec.Done = at
	switch {
	case err != nil:
		return err
	case len(content) > 64*mostEvent:
		return r.end(at, malformed("an answer of more than %d bytes", 64*mostEvent))
	}
	if err := r.said.read(content); err != nil {
		return r.end(at, err)
	}
	if r.said.counted {
		r.takeUsage(&r.said)
	}
	if len(r.said.content) > 0 || r.said.thought {
		r.rec.Last = at
	}
	r.answer.Write(r.said.content)
	return r.end(at, nil)
}
