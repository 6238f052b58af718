// Package stream reads the answers of an OpenAI-compatible endpoint: server-sent events, or one
// JSON document. It says when what was generated came, and how the answer ended.
package stream

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"weir/serving"
)

// readBytes is the buffer of a read: ten thousand streams that are open have one each.
const readBytes = 4 << 10

var buffers = sync.Pool{New: func() any { return new([readBytes]byte) }}

// Limits of an answer where nobody says others.
const (
	MostBytes  = 64 << 20
	MostEvents = 1 << 17
)

// Limits bound an answer; more is malformed.
type Limits struct {
	Bytes  int64 // of the answer, unpacked
	Events int   // with output
	Text   int   // bytes of its content, which the record has; 0: the record has none of it
	Prompt int   // bytes of the request; 0: nobody says
}

// Reader reads one answer into a record.
type Reader struct {
	rec    *serving.Record
	limits Limits
	now    func() int64
	// progress is called after each read, with what has been generated until then: events, and
	// whether to go on.
	progress func(events int) (more bool)

	lines  lines
	said   said // by the last event
	head   head
	chunks int // events that say something of the answer
	answer strings.Builder
	// finished is a finish reason, or [DONE]. The last usage counts.
	finished bool
	ended    bool // well
	usage    usage
	fresh    int // events with output of the read
}

// ErrStopped says that progress did not want more.
var ErrStopped = errors.New("stopped")

// NewReader makes one. now gives nanoseconds on the clock of the record.
func NewReader(rec *serving.Record, l Limits, now func() int64, progress func(events int) bool) *Reader {
	return &Reader{rec: rec, limits: l, now: now, progress: progress, said: said{keep: l.Text > 0}}
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
	defer r.count()
	kept := buffers.Get().(*[readBytes]byte)
	defer buffers.Put(kept)
	buf := kept[:]
	body = &bounded{from: body, left: r.limits.Bytes, most: r.limits.Bytes, head: &r.head}
	var err error
	for err == nil {
		var n int
		n, err = body.Read(buf)
		at := r.now()
		r.fresh = 0
		if n > 0 {
			wrong := r.lines.feed(buf[:n], func(name string, data []byte) error { return r.event(name, data, at) })
			if wrong != nil {
				return r.end(at, wrong)
			}
			if r.progress != nil && !r.progress(len(r.rec.Events)) {
				r.rec.Done = at
				return ErrStopped
			}
		}
	}
	at := r.now()
	if r.finished { // whatever became of the connection afterwards
		return r.end(at, nil)
	}
	if errors.Is(err, io.EOF) {
		err = &fault{serving.Truncated, "the answer ended without a finish reason or [DONE]"}
	}
	return r.end(at, err)
}

// Refuse notes an answer that is not read, with what is wrong with it.
func (r *Reader) Refuse(wrong error) error { return r.end(r.now(), wrong) }

// end fills the record when all has been read.
func (r *Reader) end(at int64, wrong error) error {
	rec := r.rec
	rec.Done = at
	if f, ok := errors.AsType[*fault](wrong); ok {
		rec.Outcome, rec.Error = f.outcome, f.text
		if r.chunks == 0 && f.outcome == serving.Truncated && r.head.text() != "" {
			rec.Error += "; it begins with " + r.head.text()
		}
		return nil
	}
	if wrong != nil {
		return wrong
	}
	if len(rec.Events) == 0 && rec.Last == serving.Never {
		rec.Outcome, rec.Error = serving.Empty, "the answer ended well and generated nothing"
	}
	rec.Answer, r.ended = r.answer.String(), rec.Outcome == serving.OK
	return nil
}

// event takes an event: its name, "" if it has none, and its data.
func (r *Reader) event(name string, data []byte, at int64) error {
	if isDone(data) {
		r.finished = true
		return nil
	}
	said := &r.said
	err := scan(data, said.read)
	switch {
	case fails(name):
		return said.ofFailure(err, data)
	case idles(name):
		return nil
	case err != nil:
		return noJSON(data, err)
	}
	if err := said.wrong(); err != nil {
		return err
	}
	if !said.chunk {
		if idles(said.kind) || name != "" && name != "message" {
			return nil // it is for others
		}
		return malformed("an event that has neither choices nor usage: %s", Begin(string(data)))
	}
	r.chunks++
	r.finished = r.finished || said.finished
	if said.usage.given {
		r.usage = said.usage
	}
	return r.output(at)
}

// output notes what the last event generated.
func (r *Reader) output(at int64) error {
	rec, said := r.rec, &r.said
	if !said.output {
		if rec.First == serving.Never && said.choices > 0 && !said.begins && !said.finished {
			rec.Blank++
		}
		return nil
	}
	if len(rec.Events) == r.limits.Events {
		rec.Events = nil // they are of no use
		return malformed("the answer has more than %d events with output, as many as max_answer allows",
			r.limits.Events)
	}
	if err := r.keep(); err != nil {
		return err
	}
	if rec.First == serving.Never {
		rec.First = at
	}
	if said.visible && rec.FirstContent == serving.Never {
		rec.FirstContent = at
	}
	tokens := int32(serving.Unknown)
	if said.usage.given {
		tokens = int32(min(said.usage.completion, math.MaxInt32))
	}
	rec.Last = at
	rec.Events = append(rec.Events, serving.Event{At: at, Tokens: tokens, Coalesced: r.fresh > 0})
	r.fresh++
	return nil
}

// keep keeps the content, where somebody wants it.
func (r *Reader) keep() error {
	if r.answer.Len()+len(r.said.content) > r.limits.Text {
		if r.limits.Text == 0 {
			return nil
		}
		return malformed("the answer has more than %d bytes of text, as much as is kept of it", r.limits.Text)
	}
	r.answer.Write(r.said.content)
	return nil
}
