package yamlsyntax

import (
	"regexp"
	"strings"
)

// runCall matches the beginning of run("NAME", CONDITION) up to the condition.
var runCall = regexp.MustCompile(`\brun\("[^"]*",\s*`)

// QuoteConditions quotes the conditions of run("NAME", CONDITION), since they may have quantities,
// as block_size == 64MiB, which are not valid in HCL.
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
			continue // it is in quotes, or the parser reports an error
		}
		out.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.TrimSpace(text[:end])) + `"`)
		text = text[end:]
	}
}

// closing returns the index after the closing parenthesis; -1 if there is none.
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
