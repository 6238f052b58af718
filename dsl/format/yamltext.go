package format

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"weir/dsl/yamlsyntax"
)

// literal is a number as HCL writes it and YAML reads it, digit for digit.
var literal = regexp.MustCompile(`^(-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,8}[1-9])?|true|false)$`)

// isLiteral says whether a text is a number or flag of which both syntaxes have
// the same reading.
func isLiteral(text string) bool { return literal.MatchString(text) && text != "-0" }

// scalarText is a text as YAML writes it; a text in several lines has them all.
func scalarText(n *node, inFlow bool) string {
	if n.written != "" || n.null && n.text == "" {
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

// chooseText writes a text on one line, in quotes only where it needs them.
func chooseText(n *node, inFlow bool) string {
	t := n.text
	switch {
	case !n.template && needsNoQuotes(t):
		return t
	case !n.quoted && isLiteral(t):
		return t
	case n.template && inFlow:
	case !isOtherMeaning(t) && !strings.ContainsFunc(t, unprintable) && yamlsyntax.IsPlain(t, inFlow):
		return t
	}
	if strings.ContainsAny(t, `"\`) && !strings.ContainsFunc(t, unprintable) {
		return "'" + strings.ReplaceAll(t, "'", "''") + "'"
	}
	return doubleQuoted(t)
}

func isOtherMeaning(t string) bool { return slices.Contains(otherMeaning, strings.ToLower(t)) }

// fitsBlock says whether a text can stand in a block of lines.
func fitsBlock(t string) bool {
	if t[0] == '\n' || t[0] == ' ' || t[0] == '\t' || strings.HasSuffix(t, "\n\n") || strings.Contains(t, " \n") {
		return false
	}
	return !strings.ContainsFunc(strings.ReplaceAll(t, "\n", ""), unprintable)
}

// unprintable are the characters that YAML escapes, or takes for line breaks.
func unprintable(r rune) bool {
	return r < ' ' || r == 0x7F || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == unicode.ReplacementChar || unicode.Is(unicode.C, r)
}

func doubleQuoted(t string) string { return `"` + escapeQuoted(t) + `"` }
