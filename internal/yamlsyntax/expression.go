package yamlsyntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// expression implements hcl.Expression for a value.
type expression struct {
	src  *source
	node *Node
}

// Value returns the raw text of a scalar, the result of a template, a tuple for a list and an
// object for a mapping.
func (e *expression) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	n := e.node
	switch n.Kind {
	case Sequence:
		items := make([]cty.Value, len(n.Items))
		var diags hcl.Diagnostics
		for i, item := range e.ExprList() {
			v, d := item.Value(ctx)
			items[i], diags = v, append(diags, d...)
		}
		return cty.TupleVal(items), diags
	case Mapping:
		fields := map[string]cty.Value{}
		var diags hcl.Diagnostics
		for _, p := range n.Pairs {
			v, d := (&expression{e.src, p.Value}).Value(ctx)
			fields[p.Key], diags = v, append(diags, d...)
		}
		return cty.ObjectVal(fields), diags
	}
	switch {
	case n.Null:
		return cty.NullVal(cty.DynamicPseudoType), nil
	case n.template == nil:
		return cty.StringVal(n.Text), nil
	}
	v, diags := n.template.Value(ctx)
	if !n.verbatim {
		diags = pointAt(diags, n.Range)
	}
	return v, diags
}

// Variables returns all references in the templates of the value.
func (e *expression) Variables() []hcl.Traversal {
	var all []hcl.Traversal
	n := e.node
	for _, item := range n.Items {
		all = append(all, (&expression{e.src, item}).Variables()...)
	}
	for _, p := range n.Pairs {
		all = append(all, (&expression{e.src, p.Value}).Variables()...)
	}
	if n.template == nil {
		return all
	}
	found := n.template.Variables()
	if !n.verbatim {
		for i, t := range found {
			found[i] = placeAt(t, n.Range)
		}
	}
	return append(all, found...)
}

// Template returns the parsed template of a text with ${…}; nil for other values.
func (e *expression) Template() hclsyntax.Expression {
	if e.node.template == nil {
		return nil
	}
	return e.node.template
}

// Plain reports whether the value is a text without quotes and ${…}: 5 is a number, "5" is not.
func (e *expression) Plain() bool { return e.node.Plain && e.node.template == nil }

// Range returns the value's place.
func (e *expression) Range() hcl.Range { return e.node.Range }

// StartRange returns the value's place.
func (e *expression) StartRange() hcl.Range { return e.node.Range }

// ExprList returns the items of a list; nil for anything else.
func (e *expression) ExprList() []hcl.Expression {
	if e.node.Kind != Sequence {
		return nil
	}
	items := make([]hcl.Expression, len(e.node.Items))
	for i, n := range e.node.Items {
		items[i] = &expression{e.src, n}
	}
	return items
}

// ExprMap returns the pairs of a mapping; nil for anything else.
func (e *expression) ExprMap() []hcl.KeyValuePair {
	if e.node.Kind != Mapping {
		return nil
	}
	pairs := make([]hcl.KeyValuePair, len(e.node.Pairs))
	for i, p := range e.node.Pairs {
		key := &Node{Kind: Scalar, Text: p.Key, Range: p.KeyRange}
		pairs[i] = hcl.KeyValuePair{Key: &expression{e.src, key}, Value: &expression{e.src, p.Value}}
	}
	return pairs
}

// AsTraversal reads a scalar such as `bandwidth` or `a.b` as a reference, for keywords.
func (e *expression) AsTraversal() hcl.Traversal {
	n := e.node
	if n.Kind != Scalar || n.Null || n.template != nil {
		return nil
	}
	t, diags := hclsyntax.ParseTraversalAbs([]byte(n.Text), e.src.filename, n.Range.Start)
	if diags.HasErrors() {
		return nil
	}
	return t
}

// pointAt places diagnostics at the whole scalar if exact positions are unknown, because YAML has
// folded or unescaped its text.
func pointAt(diags hcl.Diagnostics, rng hcl.Range) hcl.Diagnostics {
	out := make(hcl.Diagnostics, len(diags))
	for i, d := range diags {
		moved := *d
		moved.Subject, moved.Context, moved.Expression = &rng, nil, nil
		out[i] = &moved
	}
	return out
}

func placeAt(t hcl.Traversal, rng hcl.Range) hcl.Traversal {
	out := make(hcl.Traversal, len(t))
	for i, step := range t {
		switch s := step.(type) {
		case hcl.TraverseRoot:
			s.SrcRange = rng
			out[i] = s
		case hcl.TraverseAttr:
			s.SrcRange = rng
			out[i] = s
		case hcl.TraverseIndex:
			s.SrcRange = rng
			out[i] = s
		default:
			out[i] = step
		}
	}
	return out
}
