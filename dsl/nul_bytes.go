// NUL characters in texts, and launch names that functions changed.

package dsl

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

const nulDetail = "It contains a NUL character, which arguments cannot contain."

// changedName says why a text has a lateMark outside of a name: a function cut the text, or the
// text contains NUL.
func changedName(called bool) string {
	if !called {
		return nulDetail
	}
	return "A function changes a name that has a value only when a launch runs."
}

func changedNameHint(called bool, launchNames []string) string {
	if !called {
		return ""
	}
	return "Use " + launchNamesHint(launchNames) + " as they are."
}

// callsFunction says whether an expression calls a function.
func callsFunction(expr hcl.Expression) bool {
	return anyNode(expr, func(n hclsyntax.Node) bool {
		_, is := n.(*hclsyntax.FunctionCallExpr)
		return is
	})
}

// hasNUL says whether a NUL is written in an expression.
func hasNUL(expr hcl.Expression) bool {
	if nodeOf(expr) == nil { // a text without ${…}
		v, diags := expr.Value(nil)
		return !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type() == cty.String &&
			strings.ContainsRune(v.AsString(), 0)
	}
	return anyNode(expr, func(n hclsyntax.Node) bool {
		l, is := n.(*hclsyntax.LiteralValueExpr)
		return is && l.Val.Type() == cty.String && strings.ContainsRune(l.Val.AsString(), 0)
	})
}

func anyNode(expr hcl.Expression, is func(hclsyntax.Node) bool) (found bool) {
	node := nodeOf(expr)
	if node == nil {
		return false
	}
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		found = found || is(n)
		return nil
	})
	return found
}

// nodeOf returns the syntax tree of an expression; nil for a text of YAML without ${…}, or if it is
// no text.
func nodeOf(expr hcl.Expression) hclsyntax.Node {
	if t, isText := expr.(interface{ Template() hclsyntax.Expression }); isText {
		if template := t.Template(); template != nil {
			return template
		}
		return nil
	}
	node, _ := expr.(hclsyntax.Node)
	return node
}
