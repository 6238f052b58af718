package format

import (
	"regexp"
	"strings"

	"weir/dsl/yamlsyntax"
)

// literal is a number as HCL writes it and YAML reads it, digit for digit.
var literal = regexp.MustCompile(`^(-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,8}[1-9])?|true|false)$`)

// isLiteral says whether a text is a number or flag of which both syntaxes have
// the same reading.
func isLiteral(text string) bool { return literal.MatchString(text) && text != "-0" }

// scalarText is a text as YAML writes it; a text in several lines has them all.
func scalarText(n *node, inFlow bool) string {
	if n.null && n.text == "" || n.written != "" && !n.rereadDifferently(inFlow) {
		return n.written
	}
	if !inFlow && strings.Contains(n.text, "\n") && fitsBlock(n.text) {
		if body, ok := strings.CutSuffix(n.text, "\n"); ok {
			return "|\n" + body
		}
		return "|-\n" + n.text
	}
	return chooseText(n, inFlow)
}

// rereadDifferently says whether a scalar was written without quotes that some
// reader of YAML needs to read the same.
func (n *node) rereadDifferently(inFlow bool) bool {
	return n.style == free && !n.quoted && !yamlsyntax.ReadAlike(n.text, inFlow)
}

// chooseText writes a text on one line, in quotes only where it needs them.
func chooseText(n *node, inFlow bool) string {
	if !n.quoted && isLiteral(n.text) || yamlsyntax.IsPlain(n.text, inFlow) {
		return n.text
	}
	return yamlsyntax.Quote(n.text)
}

// fitsBlock says whether a text can stand in a block of lines.
func fitsBlock(t string) bool {
	if t[0] == '\n' || t[0] == ' ' || t[0] == '\t' || strings.HasSuffix(t, "\n\n") || strings.Contains(t, " \n") {
		return false
	}
	return !strings.ContainsFunc(strings.ReplaceAll(t, "\n", ""), yamlsyntax.NeedsEscape)
}
