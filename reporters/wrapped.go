package reporters

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/internal/wrap"
)

// wrapped breaks a text between words at a width; 0: not at all. Lines after the first begin with next.
// Of longer words only keys of cases are broken.
func wrapped(s string, width int, next string) string {
	if width <= 0 || text.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	indent := len(s) - len(strings.TrimLeft(s, " "))
	b.WriteString(s[:indent])
	at := indent
	begun := false
	for rest := s[indent:]; rest != ""; {
		left := strings.TrimLeft(rest, " ")
		gap := len(rest) - len(left)
		word, _, _ := strings.Cut(left, " ")
		rest = left[len(word):]
		if word == "" {
			break
		}
		parts := []string{word}
		switch n := text.StringWidth(word); {
		case n > width-len(next):
			parts = wrap.Word(word, width-at-gap, width-len(next))
		case begun && at+gap+n > width:
			parts = []string{"", word}
		}
		for i, part := range parts {
			switch {
			case i > 0:
				b.WriteString("\n" + next)
				at = len(next)
			case begun && part != "":
				b.WriteString(strings.Repeat(" ", gap))
				at += gap
			}
			b.WriteString(part)
			at += text.StringWidth(part)
		}
		begun = true
	}
	return b.String()
}
