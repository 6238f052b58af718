// Package stream reads the answers of an OpenAI-compatible endpoint: server-sent events, or one JSON document. It
// records the arrival times of output, and how the answer ended.
package stream

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/workload/serving/load"
)

// readBytes is the buffer of a read: each of ten thousand open streams has one.
const readBytes = 4 << 10

var buffers = sync.Pool{New: func() any { return new([readBytes]byte) }}

// Default limits of an answer.
const (
	MaxBytes  = 64 << 20
	MaxEvents = 1 << 17
)

// Limits limit an answer; a larger one is malformed.
type Limits struct {
	Bytes  int64 // of the answer, unpacked
	Events int   // with output
	Text   int   // bytes of its content to keep in the record; 0: none
	Prompt int   // bytes of the request; 0: unknown
	// Choices is the requested number of choices; up to 1, output of a second one makes an answer malformed.
	Choices int
}

// Reader reads one answer into a record.
type Reader struct {
	rec    *load.Record
	limits Limits
	now    func() int64
	// progress is called after each read with the number of events with output so far, and returns whether to continue.
	progress func(events int) (more bool)

	lines  lines
	parsed parsedEvent // the last event
	head   head
	chunks int   // events with choices, usage or an error
	choice int   // index of the choice with output
	ends   []int // indices of the choices with a finish reason
	answer strings.Builder
	done   bool // [DONE] has arrived
	// reasons: an event had reasoning.
	reasons bool
	chosen  bool   // an event had a choice
	other   string // the first event of an extension or of another API
	ended   bool   // it ended normally
	usage   usage
	fresh   int // events with output in the current read

	// Ended is called at [DONE], after which only the end of the answer may come; nil: nothing is.
	Ended func()
}

// ErrStopped is returned after progress returned false.
var ErrStopped = errors.New("stopped")

// NewReader makes a Reader. now returns nanoseconds on the clock of the record.
func NewReader(rec *load.Record, l Limits, now func() int64, progress func(events int) bool) *Reader {
	return &Reader{rec: rec, limits: l, now: now, progress: progress, parsed: parsedEvent{keep: l.Text > 0}}
}

// fault is an invalid answer.
type fault struct {
	outcome load.Outcome
	text    string
}

func (f *fault) Error() string { return f.text }

func malformed(format string, args ...any) error {
	return &fault{load.Malformed, fmt.Sprintf(format, args...)}
}

// Events reads server-sent events until their end. It returns errors of the body, and ErrStopped; errors of the answer
// itself are in the record.
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
	at, ends := r.now(), ""
	if errors.Is(err, io.EOF) {
		if r.chunks == 0 && r.lines.several() {
			ends = ", and no empty line ends its first event"
		}
		wrong := r.lines.rest(func(name string, data []byte) error { return r.event(name, data, at) })
		if wrong != nil {
			return r.end(at, wrong)
		}
	}
	if r.finished() { // later errors of the connection do not count
		return r.end(at, nil)
	}
	switch {
	case errors.Is(err, io.EOF) && r.chunks == 0 && strings.HasPrefix(r.head.text(), "<"):
		err = malformed("the answer is a page, not a stream of events; it begins with %s", r.head.text())
	case errors.Is(err, io.EOF) && !r.chosen && r.other != "":
		err = malformed("no event has choices, and the first is %q, of another API: weir reads streams of completions and "+
			"chat completions", r.other)
	case errors.Is(err, io.EOF) && len(r.ends) > 0:
		err = &fault{load.Truncated, fmt.Sprintf("the answer ended without [DONE], and %d of %d choices have a finish reason",
			len(r.ends), r.limits.Choices)}
	case errors.Is(err, io.EOF):
		err = &fault{load.Truncated, "the answer ended without a finish reason or [DONE]" + ends}
	}
	return r.end(at, err)
}

// Refuse records an answer that is not read, with its error.
func (r *Reader) Refuse(wrong error) error { return r.end(r.now(), wrong) }

// end completes the record after the last read.
func (r *Reader) end(at int64, wrong error) error {
	rec := r.rec
	rec.Done = at
	if f, ok := errors.AsType[*fault](wrong); ok {
		rec.Outcome, rec.Error = f.outcome, f.text
		if r.chunks == 0 && f.outcome == load.Truncated && r.head.text() != "" {
			rec.Error += "; it begins with " + r.head.text()
		}
		return nil
	}
	if wrong != nil {
		return wrong
	}
	if len(rec.Events) == 0 && rec.Last == load.Never {
		rec.Outcome, rec.Error = load.Empty, "the answer ended normally without any output"
	}
	rec.Answer, r.ended = r.answer.String(), rec.Outcome == load.OK
	return nil
}

// event handles an event: its name, "" if it has none, and its data.
func (r *Reader) event(name string, data []byte, at int64) error {
	if isDone(data) {
		if r.Ended != nil && !r.done {
			r.Ended()
		}
		r.done = true
		return nil
	}
	parsed := &r.parsed
	err := scan(data, parsed.read)
	switch {
	case fails(name):
		return parsed.ofFailure(err, data)
	case idles(name):
		return nil
	case err != nil:
		return noJSON(data, err)
	}
	if err := parsed.wrong(); err != nil {
		return err
	}
	if !parsed.chunk {
		if idles(parsed.kind) {
			return nil
		}
		if name != "" && name != "message" {
			r.other = cmp.Or(r.other, Words(name))
			return nil
		}
		return malformed("an event that has neither choices nor usage: %s", Begin(string(data)))
	}
	r.chunks++
	r.chosen = r.chosen || parsed.choices > 0
	r.finish()
	r.reasons = r.reasons || parsed.reasons || parsed.thinks
	if parsed.usage.given {
		r.usage = parsed.usage
	}
	return r.output(at)
}

// finished reports whether nothing more has to come: [DONE], or a finish reason for each requested choice.
func (r *Reader) finished() bool { return r.done || len(r.ends) >= max(1, r.limits.Choices) }

// finish notes the finish reasons of the last event. A choice that goes on after one has not finished.
func (r *Reader) finish() {
	parsed := &r.parsed
	if parsed.sure() && parsed.first == parsed.last {
		r.ends = slices.DeleteFunc(r.ends, func(choice int) bool { return choice == parsed.first })
	}
	for _, choice := range parsed.ends {
		r.ends = ordered.Append(r.ends, choice)
	}
}

// oneChoice rejects output of a second choice that was not requested.
func (r *Reader) oneChoice() error {
	if r.rec.First == load.Never {
		r.choice = r.parsed.first
	}
	if other := cmp.Or(r.parsed.first-r.choice, r.parsed.last-r.choice); other != 0 && r.limits.Choices < 2 {
		return malformed("the answer has several choices (index %d and %d), and body has no n that asks for them",
			min(r.choice, r.choice+other), max(r.choice, r.choice+other))
	}
	return nil
}

// output records the output of the last event.
func (r *Reader) output(at int64) error {
	rec, parsed := r.rec, &r.parsed
	if !parsed.output {
		if rec.First == load.Never && parsed.choices > 0 && !parsed.begins && len(parsed.ends) == 0 {
			rec.Blank++
		}
		return nil
	}
	if r.done {
		return malformed("the answer has output after [DONE]")
	}
	if err := r.oneChoice(); err != nil {
		return err
	}
	if len(rec.Events) == r.limits.Events {
		rec.Events = nil // they are not needed
		return malformed("the answer has more than %d events with output, the limit of max_answer",
			r.limits.Events)
	}
	if err := r.keep(); err != nil {
		return err
	}
	rec.Beyond = rec.Beyond || parsed.beyond()
	if rec.First == load.Never {
		rec.First = at
	}
	if parsed.visible && rec.FirstContent == load.Never {
		rec.FirstContent = at
	}
	tokens := int32(load.Unknown)
	if parsed.usage.given {
		tokens = int32(min(parsed.usage.completion, math.MaxInt32))
	}
	rec.Last = at
	rec.Events = append(rec.Events, load.Event{
		At: at, Tokens: tokens, Coalesced: r.fresh > 0, Unsure: !parsed.sure(),
	})
	r.fresh++
	return nil
}

// keep keeps the content, if the limits ask for it.
func (r *Reader) keep() error {
	if r.answer.Len()+len(r.parsed.content) > r.limits.Text {
		if r.limits.Text == 0 {
			return nil
		}
		return malformed("the answer has more than %d bytes of text, the limit for keeping it", r.limits.Text)
	}
	r.answer.Write(r.parsed.content)
	return nil
}
