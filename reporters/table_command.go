package reporters

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/internal/wrap"
)

// again writes what to do about a finding: a command, on several lines if it is longer than the terminal is wide, that
// a shell reads as one; or a sentence.
func (t *terminal) again(what string, isCommand bool) {
	const indent, name = "    ", "again: "
	if !isCommand || t.Width <= 0 || text.StringWidth(indent+name+what) <= t.Width {
		t.line(indent, name+what)
		return
	}
	line := indent + name
	begun := false
	for _, word := range shellWords(what) {
		n := text.StringWidth(word)
		if begun && text.StringWidth(line)+1+n > t.Width-len(` \`) {
			fmt.Fprintf(&t.out, "%s \\\n", line)
			line, begun = indent+"  ", false
		}
		if begun {
			line += " "
		}
		parts := t.shellParts(word, t.Width-text.StringWidth(line))
		for _, part := range parts[:len(parts)-1] { // a shell joins them, if nothing is before the second
			fmt.Fprintf(&t.out, "%s%s\\\n", line, part)
			line = ""
		}
		line += parts[len(parts)-1]
		begun = true
	}
	fmt.Fprintf(&t.out, "%s\n", line)
}

// shellParts breaks a quoted word that is longer than the terminal is wide into quoted parts.
func (t *terminal) shellParts(word string, room int) []string {
	quote := len(`''\`)
	if text.StringWidth(word) <= room || !strings.HasPrefix(word, "'") || strings.Count(word, "'") != 2 {
		return []string{word}
	}
	var out []string
	for _, part := range wrap.Word(strings.Trim(word, "'"), room-quote, t.Width-quote) {
		out = append(out, "'"+part+"'")
	}
	return out
}

// shellWords are the words of a command that quoted wrote.
func shellWords(command string) (words []string) {
	var word strings.Builder
	within := false
	for _, r := range command {
		if r == '\'' {
			within = !within
		}
		if r == ' ' && !within {
			words = append(words, word.String())
			word.Reset()
			continue
		}
		word.WriteRune(r)
	}
	return append(words, word.String())
}
