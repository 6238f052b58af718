package format

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"weir/dsl/grammar"
	"weir/dsl/yamlsyntax"
)

// quoted is a text as a string of HCL.
func quoted(t string) string {
	return `"` + strings.NewReplacer("${", "$${", "%{", "%%{").Replace(yamlsyntax.Escape(t)) + `"`
}

// hclScalar is a text as an expression of HCL. Numbers and flags lose their
// quotes where the place reads more than texts and YAML had none either.
func hclScalar(n *node, forms []grammar.Form) string {
	switch {
	case n.null && !n.quoted:
		return "null"
	case n.template:
		if e, ok := wholeExpression(n.text); ok {
			switch {
			case !isExpression(forms) && readsAsText(e):
				return `"${` + e + `}"`
			case strings.Contains(e, "\n"):
				return "(" + e + ")"
			}
			return strings.TrimSpace(e)
		}
		return quoteTemplate(n.text)
	case !n.quoted && isLiteral(n.text) && !onlyTexts(forms):
		return n.text
	}
	return quoted(n.text)
}

// readsAsText says whether an expression alone would be read as a text, a list or
// an object that is written out, where YAML has an expression that gives one.
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

// onlyTexts says whether every scalar that may stand here is a text.
func onlyTexts(forms []grammar.Form) bool {
	texts := []grammar.Type{
		grammar.String, grammar.Condition, grammar.Assertion, grammar.File, grammar.Date, grammar.Time, grammar.Percent,
	}
	seen := false
	for _, f := range forms {
		if f.Shape != grammar.Scalar {
			continue
		}
		if !slices.Contains(texts, f.Type) {
			return false
		}
		seen = true
	}
	return seen
}

// hclKey is a key of an object: as it is if it is a name, otherwise in quotes.
func hclKey(name string) string {
	if isName(name) {
		return name
	}
	return quoted(name)
}

// isName says whether HCL takes a name without quotes, and for nothing else.
func isName(name string) bool {
	return hclsyntax.ValidIdentifier(name) && !slices.Contains([]string{"for", "null", "true", "false"}, name)
}
