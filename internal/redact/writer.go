package redact

import (
	"bytes"
	"io"
	"sync"
)

// Writer copies text and replaces every value, even if it arrives in pieces. It holds back only
// what may be the beginning of a value, and never a line end because of a few characters, since
// readers wait for lines.
type Writer struct {
	values Values
	to     io.Writer

	mu    sync.Mutex
	held  []byte // the possible beginning of a value
	shown int    // how much of held is written: a few characters that end a line
}

// Writer returns a writer that redacts the text for another.
func (v Values) Writer(to io.Writer) *Writer { return &Writer{values: v, to: to} }

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, p...)
	if err := w.pass(false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the held text.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pass(true)
}

// pass writes the held text up to the last incomplete value; with all, everything.
func (w *Writer) pass(all bool) error {
	out := make([]byte, 0, len(w.held))
	at, matched := 0, 0
	for at < len(w.held) && len(w.values) > 0 {
		var n int
		if n, matched = w.values.at(w.held[at:]); matched > 0 && !all {
			break
		}
		switch {
		case n > 0:
			out = append(out, Redacted...)
			at += n
			continue
		case at >= w.shown:
			out = append(out, w.held[at])
		}
		at++
	}
	if len(w.values) == 0 {
		out, at = w.held, len(w.held)
	}
	rest := w.held[at:]
	shown := max(w.shown-at, 0)
	if matched < Least && bytes.IndexByte(rest, '\n') >= 0 {
		out, shown = append(out, rest[shown:]...), len(rest)
	}
	if len(out) > 0 {
		if _, err := w.to.Write(out); err != nil {
			return err
		}
	}
	w.held, w.shown = append([]byte(nil), rest...), shown
	return nil
}

// least returns how much of an incomplete value has arrived.
func (w *Writer) least() int {
	if len(w.held) == 0 {
		return 0
	}
	_, matched := w.values.at(w.held)
	return matched
}
