package format

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// expression reads a value: lists and objects as such, constants as texts, and everything else as
// ${…}.
func (r *hclReader) expression(expr hclsyntax.Expression, forms []grammar.Form) *node {
	at := expr.Range()
	n := &node{Range: at, Flow: at.Start.Line == at.End.Line}
	if isExpression(forms) {
		return r.template(n, expr)
	}
	if word := hcl.ExprAsKeyword(expr); word != "" &&
		slices.ContainsFunc(forms, func(f grammar.Form) bool { return slices.Contains(f.Values, word) }) {
		n.Text = word
		return n
	}
	switch e := expr.(type) {
	case *hclsyntax.TupleConsExpr:
		n.Kind = yamlsyntax.Sequence
		for i, item := range e.Exprs {
			var c yamlsyntax.Comments
			if i == len(e.Exprs)-1 || e.Exprs[i+1].Range().Start.Line > item.Range().End.Line {
				c = r.comments.of(item.Range(), i == 0)
			}
			value := r.expression(item, itemForms(forms))
			value.Comments = c
			n.Items = append(n.Items, value)
		}
		r.foot(n, e.Range().End.Byte-1)
		return n
	case *hclsyntax.ObjectConsExpr:
		if r.object(n, e, forms) {
			return n
		}
	case *hclsyntax.LiteralValueExpr:
		if e.Val.IsNull() {
			n.Null = true
			return n
		}
	case *hclsyntax.TemplateExpr:
		return r.text(n, e)
	}
	if src := string(n.Range.SliceBytes(r.src)); isLiteral(src) {
		n.Text, n.Plain = src, true
		return n
	}
	return r.template(n, expr)
}

// template converts an expression to ${…}.
func (r *hclReader) template(n *node, expr hclsyntax.Expression) *node {
	inner := expr.Range()
	switch expr.(type) {
	case *hclsyntax.TemplateWrapExpr:
		src := string(inner.SliceBytes(r.src))
		n.Text = "${" + trimInterpolation(src[1:len(src)-1]) + "}"
		return n
	case *hclsyntax.ParenthesesExpr: // HCL needs parentheses around an expression of several lines
		if inner.Start.Line != inner.End.Line {
			inner.Start.Byte++
			inner.End.Byte--
		}
	}
	n.Text = "${" + unindented(string(inner.SliceBytes(r.src))) + "}"
	return n
}

// unindented removes the indentation of an expression of several lines, except in heredocs, where
// it is text.
func unindented(t string) string {
	lines := strings.Split(strings.TrimSpace(t), "\n")
	if len(lines) == 1 || strings.Contains(t, "<<") {
		return t
	}
	least := len(t)
	for _, l := range lines[1:] {
		if trimmed := strings.TrimLeft(l, " \t"); trimmed != "" {
			least = min(least, len(l)-len(trimmed))
		}
	}
	for i, l := range lines {
		if i > 0 {
			l = l[min(least, len(l)):]
		}
		lines[i] = strings.TrimRight("  "+l, " \t\r")
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// trimInterpolation returns the expression in ${…}, without the marks that strip white space.
func trimInterpolation(t string) string {
	t = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(t), "${"), "}")
	return strings.TrimSuffix(strings.TrimPrefix(t, "~"), "~")
}

// object reads { a = 1 }; false if its keys are computed.
func (r *hclReader) object(n *node, e *hclsyntax.ObjectConsExpr, forms []grammar.Form) bool {
	names := make([]string, len(e.Items))
	for i, item := range e.Items {
		v, diags := item.KeyExpr.Value(nil)
		if diags.HasErrors() || v.Type() != cty.String || v.IsNull() {
			return false
		}
		names[i] = v.AsString()
	}
	n.Kind = yamlsyntax.Mapping
	for i, item := range e.Items {
		var c yamlsyntax.Comments
		whole := hcl.RangeBetween(item.KeyExpr.Range(), item.ValueExpr.Range())
		if i == len(e.Items)-1 || e.Items[i+1].KeyExpr.Range().Start.Line > whole.End.Line {
			c = r.comments.of(whole, i == 0)
		}
		r.put(n, names[i], item.KeyExpr.Range(), r.expression(item.ValueExpr, formsOf(forms, names[i])), c)
	}
	r.foot(n, e.Range().End.Byte-1)
	return true
}
