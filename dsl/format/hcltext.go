package format

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// quoted formats a text as a string of HCL.
func quoted(t string) string {
	return `"` + yamlsyntax.Escape(escapeTemplate(t)) + `"`
}

// hclScalar formats a text as an expression of HCL. Numbers and flags lose their quotes if the
// place accepts other types and YAML had no quotes.
func hclScalar(n *node, forms []grammar.Form) string {
	text := n.Text
	if isExpression(forms) && !n.Null && !isTemplate(text) {
		text = "${" + text + "}"
	}
	switch {
	case n.Null:
		return "null"
	case isTemplate(text):
		if e, ok := wholeExpression(text); ok {
			switch {
			case !isExpression(forms) && readsAsText(e):
				return `"${` + e + `}"`
			case strings.Contains(e, "\n"):
				return "(" + e + ")"
			}
			return strings.TrimSpace(e)
		}
		return quoteTemplate(text)
	case n.Plain && isLiteral(text) && !onlyTexts(forms):
		return text
	}
	return quoted(text)
}

// literal matches numbers that HCL and YAML read alike, digit for digit.
var literal = regexp.MustCompile(`^(-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,8}[1-9])?|true|false)$`)

// isLiteral reports whether a text is a number or flag that both syntaxes read alike.
func isLiteral(text string) bool { return literal.MatchString(text) && text != "-0" }

// readsAsText reports whether HCL would read a single expression as a text, a list or an object,
// although it is an expression in YAML.
func readsAsText(e string) bool {
	expr, diags := hclsyntax.ParseExpression([]byte("("+e+")"), "", hcl.InitialPos)
	if diags.HasErrors() {
		return false
	}
	if outer, ok := expr.(*hclsyntax.ParenthesesExpr); ok {
		expr = outer.Expression
	}
	switch expr.(type) {
	case *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr, *hclsyntax.LiteralValueExpr, *hclsyntax.UnaryOpExpr,
		*hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr:
		return true
	}
	return isLiteral(strings.TrimSpace(e)) || hcl.ExprAsKeyword(expr) != ""
}

// hclKey formats a key of an object: unquoted if it is a name.
func hclKey(name string) string {
	if isName(name) {
		return name
	}
	return quoted(name)
}

// isName reports whether HCL accepts a name without quotes, and only as a name.
func isName(name string) bool {
	return hclsyntax.ValidIdentifier(name) && !slices.Contains([]string{"for", "null", "true", "false"}, name)
}
