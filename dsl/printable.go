package dsl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable keeps what an author wrote from doing anything to a terminal: control
// characters, and those that change the direction in which the rest is shown.
// Each becomes one replacement character, so that columns stay what they are.
func Printable(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, line)
}
