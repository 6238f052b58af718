// Package printable removes the effects of foreign text on terminals, logs and CI runners, which
// interpret commands in the output of a job: "::name::" at the start of a line, "##[name]" and
// "##vso[name]" anywhere. All text for people passes through it: names and reasons, possibly from
// other hosts or files, through Line or Text; other output through a Writer, or through JSON.
package printable

import (
	"regexp"
	"strings"
	"unicode"
)

// replacement replaces a character that is not shown.
const replacement = unicode.ReplacementChar

// shown reports whether a character affects only its own place: it is not a control character, and
// does not change the direction of text.
func shown(r rune) bool {
	if r >= ' ' && r < '\x7f' {
		return true
	}
	return r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) &&
		r != '\u2028' && r != '\u2029' && r != '\uFFFE' && r != '\uFFFF'
}

// Line makes a text safe for a single line. Each control character becomes one replacement
// character, so that columns stay aligned.
func Line(s string) string {
	return NoCommand(strings.Map(func(r rune) rune {
		if shown(r) {
			return r
		}
		return replacement
	}, s))
}

// Quote is the prefix of a line of foreign text.
const Quote = "| "

// Text makes a text of several lines safe. Lines after the first are marked as foreign.
func Text(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return strings.Join(lines, "\n  "+Quote)
}

// command matches the beginning of a command that a runner finds anywhere in a line.
var command = regexp.MustCompile(`(##[A-Za-z]*)\[`)

// NoCommand breaks up commands that a runner finds anywhere in a line: "##[error]" becomes "##
// [error]".
func NoCommand(s string) string {
	if !strings.Contains(s, "##") {
		return s
	}
	return command.ReplaceAllString(s, "$1 [")
}
