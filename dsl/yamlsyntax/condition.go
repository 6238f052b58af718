package yamlsyntax

import (
	"regexp"
	"strings"
)

// runCall is the beginning of run("NAME", CONDITION), as far as the condition.
var runCall = regexp.MustCompile(`\brun\("[^"]*",\s*`)

// QuoteConditions puts the conditions of run("NAME", CONDITION) in quotes: they have quantities,
// as block_size == 64MiB, which expressions of HCL have not.
func QuoteConditions(text string) string {
	var out strings.Builder
	for {
		at := runCall.FindStringIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at[1]])
		text = text[at[1]:]
		end := closing(text)
		if end < 0 || strings.HasPrefix(text, `"`) {
			continue // it is in quotes, or the parser says what is wrong
		}
		out.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.TrimSpace(text[:end])) + `"`)
		text = text[end:]
	}
}

// closing is where the parenthesis ends that the text stands in; -1: nowhere.
func closing(text string) int {
	depth, quoted := 0, false
	for i, c := range []byte(text) {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return i
		case c == ')':
			depth--
		}
	}
	return -1
}
