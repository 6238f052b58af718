package yamlsyntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// expression is a value read as an hcl.Expression.
type expression struct {
	src  *source
	node *node
}

// Value is the raw text of a scalar, the result of a template, a tuple for a
// list and an object for a mapping.
func (e *expression) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	n := e.node
	switch n.kind {
	case sequence:
		items := make([]cty.Value, len(n.items))
		var diags hcl.Diagnostics
		for i, item := range e.ExprList() {
			v, d := item.Value(ctx)
			items[i], diags = v, append(diags, d...)
		}
		return cty.TupleVal(items), diags
	case mapping:
		fields := map[string]cty.Value{}
		var diags hcl.Diagnostics
		for _, p := range n.pairs {
			v, d := (&expression{e.src, p.value}).Value(ctx)
			fields[p.key], diags = v, append(diags, d...)
		}
		return cty.ObjectVal(fields), diags
	}
	switch {
	case n.null:
		return cty.NullVal(cty.DynamicPseudoType), nil
	case n.template == nil:
		return cty.StringVal(n.text), nil
	}
	v, diags := n.template.Value(ctx)
	if !n.verbatim {
		diags = pointAt(diags, n.rng)
	}
	return v, diags
}

// Variables are all references in the templates of the value.
func (e *expression) Variables() []hcl.Traversal {
	var all []hcl.Traversal
	n := e.node
	for _, item := range n.items {
		all = append(all, (&expression{e.src, item}).Variables()...)
	}
	for _, p := range n.pairs {
		all = append(all, (&expression{e.src, p.value}).Variables()...)
	}
	if n.template == nil {
		return all
	}
	found := n.template.Variables()
	if !n.verbatim {
		for i, t := range found {
			found[i] = placeAt(t, n.rng)
		}
	}
	return append(all, found...)
}

// Template is what a text with ${…} is parsed as; nil for any other value.
func (e *expression) Template() hclsyntax.Expression {
	if e.node.template == nil {
		return nil
	}
	return e.node.template
}

// Plain says whether the value is a text without quotes and ${…}: 5 is a number, "5" is not.
func (e *expression) Plain() bool { return e.node.plain && e.node.template == nil }

// Range is the value's place.
func (e *expression) Range() hcl.Range { return e.node.rng }

// StartRange is the value's place.
func (e *expression) StartRange() hcl.Range { return e.node.rng }

// ExprList gives the items of a list; nil for anything else.
func (e *expression) ExprList() []hcl.Expression {
	if e.node.kind != sequence {
		return nil
	}
	items := make([]hcl.Expression, len(e.node.items))
	for i, n := range e.node.items {
		items[i] = &expression{e.src, n}
	}
	return items
}

// ExprMap gives the pairs of a mapping; nil for anything else.
func (e *expression) ExprMap() []hcl.KeyValuePair {
	if e.node.kind != mapping {
		return nil
	}
	pairs := make([]hcl.KeyValuePair, len(e.node.pairs))
	for i, p := range e.node.pairs {
		key := &node{kind: scalar, text: p.key, rng: p.keyRange}
		pairs[i] = hcl.KeyValuePair{Key: &expression{e.src, key}, Value: &expression{e.src, p.value}}
	}
	return pairs
}

// AsTraversal reads a scalar such as `bandwidth` or `a.b` as a reference, for
// places that take keywords.
func (e *expression) AsTraversal() hcl.Traversal {
	n := e.node
	if n.kind != scalar || n.null || n.template != nil {
		return nil
	}
	t, diags := hclsyntax.ParseTraversalAbs([]byte(n.text), e.src.filename, n.rng.Start)
	if diags.HasErrors() {
		return nil
	}
	return t
}

// pointAt gives diagnostics the place of a whole scalar, where places inside it
// would be wrong because YAML has folded or unescaped its text.
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
