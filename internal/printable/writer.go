package printable

import (
	"bytes"
	"io"
	"regexp"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer copies text to another writer. It replaces control characters other than line feeds,
// except sequences permitted by Styles. Unless Commands is set, it quotes lines that a CI runner
// would take for a command, and breaks up commands within a line.
type Writer struct {
	To       io.Writer
	Styles   bool // permit colours and the redrawing of lines: weir's own sequences
	Commands bool // permit commands: they are weir's own, or a program reads the output

	mu     sync.Mutex
	part   []byte // an incomplete character
	inside bool   // something other than blanks was written on the current line
	hashes int    // number of preceding #, ignoring the letters after them
}

// own matches the sequences that weir itself writes: colours, moving up to the start of a line, and clearing
// the rest of a line.
var own = regexp.MustCompile(`^\x1b\[(?:[0-9;]{0,16}m|[0-9]{1,4}A\r|K)`)

// mostOwn is the maximum length of a sequence.
const mostOwn = 20

// Write replaces characters, also those that arrive in several pieces.
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

// before returns the text to insert before a character so that it does not complete a command.
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

// JSON copies JSON without commands of CI runners: it writes the second of two consecutive # as an
// escape sequence, which readers decode to the same text.
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
