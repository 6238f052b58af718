// Package printable keeps what others have written from doing anything to a terminal or a log.
// All text that weir shows a person goes through it: names and reasons, which may come from another
// host or a file, through Line or Text, and all that is written besides through a Writer.
package printable

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// replacement stands for a character that is not shown.
const replacement = unicode.ReplacementChar

// shown says whether a character changes nothing but what stands in its own place: it is no
// control character, and does not change the direction in which the rest is shown.
func shown(r rune) bool {
	return r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) && r != '\u2028' && r != '\u2029'
}

// Line is a text that stays in its line. Each character that would do anything becomes one
// replacement character, so that columns stay what they are.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if shown(r) {
			return r
		}
		return replacement
	}, s)
}

// Text is a text of several lines, of which none but the first begins where a line of weir's
// own does.
func Text(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return strings.Join(lines, "\n  ")
}

// Writer passes on what is written to it. Characters that do something else than begin a line
// are replaced, but for the sequences that Styles permits.
type Writer struct {
	To     io.Writer
	Styles bool // pass on colours, and how a few lines are drawn over: weir's own sequences

	mu   sync.Mutex
	part []byte // of a character that has not come to its end
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
			out.WriteRune(r)
		default:
			out.WriteRune(replacement)
		}
		text = text[n:]
	}
	if _, err := w.To.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}
