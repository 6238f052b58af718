package reporters

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"weir/printable"
)

var ansi = regexp.MustCompile(`\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?)`)

// plain makes any text fit for one line of a report. Names and log lines come
// from files and from programs, and must neither steer a terminal, nor turn the
// direction of the text, nor break XML, nor command a CI runner.
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

// parted is the sentence that a text begins with, and the lines that it goes on with, as those that
// a program printed last.
func parted(s string) (sentence string, lines []string) {
	sentence, rest, _ := strings.Cut(strings.TrimRight(s, "\n"), "\n")
	if rest == "" {
		return plain(sentence), nil
	}
	for line := range strings.SplitSeq(rest, "\n") {
		lines = append(lines, plain(line))
	}
	return plain(sentence), lines[:min(len(lines), shownLines)]
}

// shownLines is how many lines of a cause a report repeats.
const shownLines = 20

// sentenceOf is a text without the lines that it goes on with.
func sentenceOf(s string) string {
	first, _ := parted(s)
	return first
}

// textLimit is how much of one text a report has, in bytes: nobody reads more than
// a few screens of one failure.
const textLimit = 8 << 10

// clip cuts a text that is longer than that, with a note in place of the rest.
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
