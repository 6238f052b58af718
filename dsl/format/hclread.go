package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl/grammar"
)

// hclReader makes the tree that the YAML of the same scenario would give.
type hclReader struct {
	src   []byte
	path  string
	diags hcl.Diagnostics
	raw   [][2]int // expressions that stay as they are, comments in them too
}

// readHCL makes the tree of an HCL file.
func readHCL(src []byte, path string) (*node, hcl.Diagnostics) {
	file, diags := hclsyntax.ParseConfig(src, path, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	r := &hclReader{src: src, path: path}
	root := r.file(file.Body.(*hclsyntax.Body))
	if r.diags.HasErrors() {
		return nil, r.diags
	}
	attach(root, r.comments(), newPlaces(src, path), false)
	return root, nil
}

func (r *hclReader) error(at hcl.Range, summary, format string, args ...any) {
	r.diags = append(r.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at,
	})
}

// file is the one block that a file holds.
func (r *hclReader) file(body *hclsyntax.Body) *node {
	for _, a := range body.Attributes {
		r.error(a.NameRange, "Outside of the scenario",
			"%q has no place in YAML, where everything is inside the scenario.",
			a.Name)
	}
	var top *hclsyntax.Block
	for _, b := range body.Blocks {
		switch {
		case b.Type != "scenario" || len(b.Labels) != 1:
			r.error(b.TypeRange, "Not a scenario", "The file holds one block, scenario \"NAME\" { … }.")
		case top != nil:
			r.error(b.TypeRange, "Second scenario", "A file holds one scenario: write each into its own file.")
		default:
			top = b
		}
	}
	if top == nil {
		if !r.diags.HasErrors() {
			r.error(body.MissingItemRange(), "Missing scenario",
				"The file has no scenario: begin it with scenario \"NAME\" { … }.")
		}
		return &node{kind: mapping}
	}
	root := r.body(top.Body, grammar.Scenario)
	name := &element{
		key: &node{text: "scenario", at: top.TypeRange}, value: &node{text: top.Labels[0], at: top.LabelRanges[0]},
	}
	name.start, name.end = top.TypeRange.Start.Byte, top.OpenBraceRange.Start.Byte
	root.elements = append([]*element{name}, root.elements...)
	root.at = top.Range()
	return root
}

// body reads attributes and blocks in the order of the file. keys is nil where
// names are free.
func (r *hclReader) body(body *hclsyntax.Body, keys []grammar.Key) *node {
	n := &node{kind: mapping, at: body.Range()}
	type item struct {
		at   int
		read func()
	}
	var items []item
	for _, a := range body.Attributes {
		items = append(items, item{a.NameRange.Start.Byte, func() { r.attribute(n, a, keys) }})
	}
	for _, b := range body.Blocks {
		items = append(items, item{b.TypeRange.Start.Byte, func() { r.block(n, b, keys) }})
	}
	slices.SortFunc(items, func(a, b item) int { return a.at - b.at })
	for _, i := range items {
		i.read()
	}
	return n
}

func (r *hclReader) attribute(n *node, a *hclsyntax.Attribute, keys []grammar.Key) {
	k, _ := grammar.Find(keys, a.Name)
	if k.Singular != "" {
		r.error(a.NameRange, "Not an argument", "In HCL %q is a block of its own for each: %s \"NAME\" { … }.", a.Name,
			k.Singular)
		return
	}
	r.put(n, a.Name, a.NameRange, r.expression(a.Expr, k.Forms), a.SrcRange.End.Byte)
}

// put adds a key; the second of two equal ones has no place in YAML.
func (r *hclReader) put(n *node, key string, at hcl.Range, value *node, end int) *element {
	if first := n.find(key); first != nil {
		r.error(at, "Given twice", "%q was already given on line %d; in YAML it can be there once.", key,
			first.key.at.Start.Line)
		return first
	}
	e := &element{key: &node{text: key, at: at}, value: value, start: at.Start.Byte, end: end}
	n.elements = append(n.elements, e)
	return e
}

func (r *hclReader) block(n *node, b *hclsyntax.Block, keys []grammar.Key) {
	end := b.CloseBraceRange.End.Byte
	if len(b.Labels) > 0 {
		i := slices.IndexFunc(keys, func(k grammar.Key) bool { return k.Singular == b.Type })
		if i < 0 || len(b.Labels) != 1 {
			r.error(b.TypeRange, "Unknown block",
				"There is no block %s with %d labels here, so it has no place in YAML.",
				b.Type, len(b.Labels))
			return
		}
		all := n.find(keys[i].Name)
		if all == nil {
			all = r.put(n, keys[i].Name, b.TypeRange, &node{kind: mapping, at: b.TypeRange, style: block}, end)
		}
		form, _ := keys[i].Form(grammar.Named)
		e := r.put(all.value, b.Labels[0], b.LabelRanges[0], r.body(b.Body, form.Keys), end)
		e.start = b.TypeRange.Start.Byte
		all.end = end
		return
	}
	k, known := grammar.Find(keys, b.Type)
	if k.Singular != "" || !known && slices.ContainsFunc(keys,
		func(k grammar.Key) bool { return k.Singular == b.Type }) {
		r.error(b.TypeRange, "Missing name", "A block %s has a name.", b.Type)
		return
	}
	value := &node{}
	switch form, isSection := k.Form(grammar.Section); {
	case isSection:
		value = r.body(b.Body, form.Keys)
	default:
		value = r.freeBody(b.Body, k.Forms)
	}
	r.put(n, b.Type, b.TypeRange, value, end)
}

// freeBody reads a block whose names are free: a map or a sweep.
func (r *hclReader) freeBody(body *hclsyntax.Body, forms []grammar.Form) *node {
	var keys []grammar.Key
	seen := func(name string, of []grammar.Form) {
		keys = append(keys, grammar.Key{Name: name, Forms: of})
	}
	for _, f := range forms {
		keys = append(keys, f.Keys...)
		if f.Shape != grammar.Map {
			continue
		}
		for name := range body.Attributes {
			seen(name, f.Value)
		}
		for _, b := range body.Blocks {
			seen(b.Type, f.Value)
		}
	}
	return r.body(body, keys)
}

// expression reads a value: lists and objects as such, constants as texts, and
// everything else as an expression in ${…}.
func (r *hclReader) expression(expr hclsyntax.Expression, forms []grammar.Form) *node {
	n := &node{at: expr.Range()}
	if isExpression(forms) {
		return r.template(n, expr)
	}
	if word := hcl.ExprAsKeyword(expr); word != "" &&
		slices.ContainsFunc(forms, func(f grammar.Form) bool { return slices.Contains(f.Values, word) }) {
		n.text = word
		return n
	}
	switch e := expr.(type) {
	case *hclsyntax.TupleConsExpr:
		n.kind = list
		items := itemForms(forms)
		for _, item := range e.Exprs {
			value := r.expression(item, items)
			n.elements = append(n.elements, &element{
				value: value, start: item.Range().Start.Byte, end: item.Range().End.Byte,
			})
		}
		return n
	case *hclsyntax.ObjectConsExpr:
		if r.object(n, e, forms) {
			return n
		}
	case *hclsyntax.LiteralValueExpr:
		if e.Val.IsNull() {
			n.null = true
			return n
		}
	case *hclsyntax.TemplateExpr:
		if t, isTemplate, ok := r.text(e); ok {
			n.text, n.template, n.quoted = t, isTemplate, true
			return n
		}
	}
	if src := string(n.at.SliceBytes(r.src)); isLiteral(src) {
		n.text = src
		return n
	}
	return r.template(n, expr)
}

func isExpression(forms []grammar.Form) bool {
	return slices.ContainsFunc(forms, func(f grammar.Form) bool { return f.Type == grammar.Expression })
}

// template makes ${…} of an expression as it stands.
func (r *hclReader) template(n *node, expr hclsyntax.Expression) *node {
	inner := expr.Range()
	switch expr.(type) {
	case *hclsyntax.TemplateWrapExpr:
		r.raw = append(r.raw, [2]int{inner.Start.Byte, inner.End.Byte})
		src := string(inner.SliceBytes(r.src))
		n.text = "${" + trimInterpolation(src[1:len(src)-1]) + "}"
		n.template = true
		return n
	case *hclsyntax.ParenthesesExpr: // those of an expression in several lines are HCL's need
		if inner.Start.Line != inner.End.Line {
			inner.Start.Byte++
			inner.End.Byte--
		}
	}
	r.raw = append(r.raw, [2]int{expr.Range().Start.Byte, expr.Range().End.Byte})
	n.text, n.template = "${"+unindented(string(inner.SliceBytes(r.src)))+"}", true
	return n
}

// unindented takes from an expression in several lines the indentation that it
// had in its file. That of a heredoc is part of its text.
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

// trimInterpolation is the expression in ${…}, without the marks that strip the
// white space that is not there.
func trimInterpolation(t string) string {
	t = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(t), "${"), "}")
	return strings.TrimSuffix(strings.TrimPrefix(t, "~"), "~")
}

// object reads { a = 1 }; false if its keys are computed.
func (r *hclReader) object(n *node, e *hclsyntax.ObjectConsExpr, forms []grammar.Form) bool {
	names := make([]string, len(e.Items))
	for i, item := range e.Items {
		key, ok := item.KeyExpr.(*hclsyntax.ObjectConsKeyExpr)
		if !ok || key.ForceNonLiteral {
			return false
		}
		if names[i] = hcl.ExprAsKeyword(key); names[i] == "" {
			if t, isTemplate := key.Wrapped.(*hclsyntax.TemplateExpr); !isTemplate || !t.IsStringLiteral() {
				return false
			}
			v, diags := key.Value(nil)
			if diags.HasErrors() || v.Type() != cty.String {
				return false
			}
			names[i] = v.AsString()
		}
	}
	n.kind = mapping
	for i, item := range e.Items {
		value := r.expression(item.ValueExpr, formsOf(forms, names[i]))
		el := r.put(n, names[i], item.KeyExpr.Range(), value, item.ValueExpr.Range().End.Byte)
		el.start = item.KeyExpr.Range().Start.Byte
	}
	return true
}

// formsOf are the forms of a key's value inside a value of the given forms.
func formsOf(forms []grammar.Form, name string) []grammar.Form {
	var out []grammar.Form
	for _, f := range forms {
		switch f.Shape {
		case grammar.Map:
			out = append(out, f.Value...)
		case grammar.Section:
			k, _ := grammar.Find(f.Keys, name)
			out = append(out, k.Forms...)
		case grammar.Sweep:
			if k, ok := grammar.Find(grammar.SweepKeys, name); ok {
				out = append(out, k.Forms...)
			}
		}
	}
	return out
}

// comments are those outside of expressions that stay as they are.
func (r *hclReader) comments() []comment {
	tokens, _ := hclsyntax.LexConfig(r.src, r.path, hcl.InitialPos)
	var out []comment
	for _, t := range tokens {
		if t.Type != hclsyntax.TokenComment {
			continue
		}
		at := t.Range.Start.Byte
		if slices.ContainsFunc(r.raw, func(s [2]int) bool { return s[0] <= at && at < s[1] }) {
			continue
		}
		out = append(out, comment{at, hashed(string(t.Bytes))})
	}
	return out
}
