// Package printable keeps what others have written from doing anything to a terminal or a log, and
// from giving commands to a CI runner, which reads them in a job's output: "::name::" at the start of
// a line, "##[name]" and "##vso[name]" anywhere.
// All text that weir shows a person goes through it: names and reasons, which may come from another
// host or a file, through Line or Text, and all that is written besides through a Writer, or through
// JSON if it is that.
package printable

import (
	"regexp"
	"strings"
	"unicode"
)

// replacement stands for a character that is not shown.
const replacement = unicode.ReplacementChar

// shown says whether a character changes nothing but what stands in its own place: it is no
// control character, and does not change the direction in which the rest is shown.
func shown(r rune) bool {
	if r >= ' ' && r < '\x7f' {
		return true
	}
	return r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) &&
		r != '\u2028' && r != '\u2029' && r != '\uFFFE' && r != '\uFFFF'
}

// Line is a text that stays in its line. Each character that would do anything becomes one
// replacement character, so that columns stay what they are.
func Line(s string) string {
	return NoCommand(strings.Map(func(r rune) rune {
		if shown(r) {
			return r
		}
		return replacement
	}, s))
}

// Quote is what stands before a line of others.
const Quote = "| "

// Text is a text of several lines. Those after the first are marked as lines of others.
func Text(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return strings.Join(lines, "\n  "+Quote)
}

// command is how a command begins that a runner finds anywhere in a line.
var command = regexp.MustCompile(`(##[A-Za-z]*)\[`)

// NoCommand breaks commands up that a runner finds anywhere in a line: "##[error]" becomes "## [error]".
func NoCommand(s string) string {
	if !strings.Contains(s, "##") {
		return s
	}
	return command.ReplaceAllString(s, "$1 [")
}
