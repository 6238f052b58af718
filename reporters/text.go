package reporters

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weir-bench/weir/internal/printable"
)

var ansi = regexp.MustCompile(`\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?)`)

// plain makes any text safe for one line of a report: names and logs must not control a terminal, change
// the text direction, break XML, or command a CI runner.
func plain(s string) string {
	s = ansi.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	return printable.NoCommand(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\uFFFE', r == '\uFFFF':
			return -1
		}
		return r
	}, s))
}

// splitLines splits a text into its first sentence and further lines, such as a program's output.
func splitLines(s string) (sentence string, lines []string) {
	sentence, rest, _ := strings.Cut(strings.TrimRight(s, "\n"), "\n")
	if rest == "" {
		return plain(sentence), nil
	}
	for line := range strings.SplitSeq(rest, "\n") {
		lines = append(lines, plain(line))
	}
	return plain(sentence), lines[:min(len(lines), shownLines)]
}

// shownLines is how many lines of a cause are repeated.
const shownLines = 20

// sentenceOf is a text without its further lines.
func sentenceOf(s string) string {
	first, _ := splitLines(s)
	return first
}

// textLimit is the maximal length of one text in a report, in bytes: a few screens.
const textLimit = 8 << 10

// clip truncates a longer text with a note.
func clip(s, note string) string {
	if len(s) <= textLimit {
		return s
	}
	cut := textLimit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + note
}
