package printable

import (
	"bytes"
	"io"
	"regexp"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer passes on what is written to it. Characters that do something else than begin a line
// are replaced, but for the sequences that Styles permits. A line that would be a command to a CI
// runner is quoted, and such commands within a line are broken up, unless Commands permits them.
type Writer struct {
	To       io.Writer
	Styles   bool // pass on colours, and how a few lines are drawn over: weir's own sequences
	Commands bool // pass on commands: they are weir's own, or what is written is read by a program

	mu     sync.Mutex
	part   []byte // of a character that has not come to its end
	inside bool   // of a line: something but blanks has been written of it
	hashes int    // how many # precede, but for the letters that follow them
}

// own are the sequences that weir itself writes: colours, and to go up and clear what follows.
var own = regexp.MustCompile(`^\x1b\[(?:[0-9;]{0,16}m|[0-9]{1,4}A\r\x1b\[J)`)

// mostOwn is how long one may be.
const mostOwn = 20

// Write replaces characters one by one, also those that come in several pieces.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.part, p...)
	w.part = nil
	var out bytes.Buffer
	out.Grow(len(text))
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			w.part = bytes.Clone(text)
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\x1b' && w.Styles && own.Match(text[:min(len(text), mostOwn)]):
			n = len(own.Find(text))
			out.Write(text[:n])
		case r == '\n' || shown(r):
			if !w.Commands {
				out.WriteString(w.before(r))
			}
			out.WriteRune(r)
		default:
			w.inside = true
			out.WriteRune(replacement)
		}
		text = text[n:]
	}
	if _, err := w.To.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// before is what is written before a character so that no command comes of it.
func (w *Writer) before(r rune) (more string) {
	switch {
	case r == ':' && !w.inside:
		more = Quote
	case r == '[' && w.hashes > 1:
		more = " "
	}
	switch letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'; {
	case r == '#':
		w.hashes++
	case !letter || w.hashes < 2:
		w.hashes = 0
	}
	w.inside = r != '\n' && (w.inside || !unicode.IsSpace(r))
	return more
}

// JSON passes on JSON so that no command to a CI runner is in it: of two # that follow each other,
// the second is written as an escape sequence. Who reads it gets the same texts.
type JSON struct {
	To   io.Writer
	hash bool // the last character was #
}

func (w *JSON) Write(p []byte) (int, error) {
	var out bytes.Buffer
	out.Grow(len(p))
	for _, c := range p {
		if w.hash = c == '#' && !w.hash; c == '#' && !w.hash {
			out.WriteString(`\u0023`)
			continue
		}
		out.WriteByte(c)
	}
	if _, err := w.To.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}
