package yamlsyntax

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// body is a mapping read as an hcl.Body.
type body struct {
	src    *source
	node   *node
	hidden map[string]bool // keys that PartialContent has taken
}

// plural is the key under which the labelled blocks of a type stand.
func plural(blockType string) string {
	if strings.HasSuffix(blockType, "s") {
		return blockType
	}
	return blockType + "s"
}

// Content reads the keys of the schema; all others are errors.
func (b *body) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, rest, diags := b.PartialContent(schema)
	for _, p := range rest.(*body).visible() {
		diags = append(diags, b.src.diag(p.keyRange, "Unsupported argument",
			fmt.Sprintf("An argument named %q is not expected here.", p.key)))
	}
	return content, diags
}

// PartialContent reads the keys of the schema and leaves the others.
func (b *body) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	content := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: b.MissingItemRange()}
	rest := &body{src: b.src, node: b.node, hidden: map[string]bool{}}
	for k := range b.hidden {
		rest.hidden[k] = true
	}
	var diags hcl.Diagnostics
	attribute := map[string]bool{}
	for _, a := range schema.Attributes {
		attribute[a.Name] = true
	}
	taken := map[string]bool{}
	for _, header := range schema.Blocks {
		key := header.Type
		if len(header.LabelNames) > 0 {
			key = plural(key)
		}
		p, ok := b.find(key)
		if !ok || attribute[key] && p.value.kind != mapping {
			continue
		}
		taken[key], rest.hidden[key] = true, true
		blocks, d := b.blocks(header, p)
		content.Blocks = append(content.Blocks, blocks...)
		diags = append(diags, d...)
	}
	for _, a := range schema.Attributes {
		p, ok := b.find(a.Name)
		if !ok {
			if a.Required {
				diags = append(diags, b.src.diag(b.MissingItemRange(), "Missing required argument",
					fmt.Sprintf("The argument %q is required.", a.Name)))
			}
			continue
		}
		if !taken[a.Name] {
			rest.hidden[a.Name] = true
			content.Attributes[a.Name] = b.attribute(p)
		}
	}
	return content, rest, diags
}

// JustAttributes reads every key as an attribute.
func (b *body) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	attrs := hcl.Attributes{}
	for _, p := range b.visible() {
		attrs[p.key] = b.attribute(p)
	}
	return attrs, nil
}

// MissingItemRange is where the mapping begins.
func (b *body) MissingItemRange() hcl.Range {
	r := b.node.rng
	r.End = r.Start
	return r
}

func (b *body) visible() []pair {
	var out []pair
	for _, p := range b.node.pairs {
		if !b.hidden[p.key] {
			out = append(out, p)
		}
	}
	return out
}

func (b *body) find(key string) (pair, bool) {
	for _, p := range b.node.pairs {
		if p.key == key && !b.hidden[key] {
			return p, true
		}
	}
	return pair{}, false
}

func (b *body) attribute(p pair) *hcl.Attribute {
	return &hcl.Attribute{
		Name: p.key, NameRange: p.keyRange, Range: hcl.RangeBetween(p.keyRange, p.value.rng),
		Expr: &expression{src: b.src, node: p.value},
	}
}

// blocks reads one key as the blocks of a type.
func (b *body) blocks(header hcl.BlockHeaderSchema, p pair) (hcl.Blocks, hcl.Diagnostics) {
	if len(header.LabelNames) > 1 {
		panic("yamlsyntax: block type " + header.Type + " has more than one label")
	}
	if len(header.LabelNames) == 0 {
		inner, d := b.inner(p.key, p.keyRange, p.value)
		if d != nil {
			return nil, hcl.Diagnostics{d}
		}
		return hcl.Blocks{{Type: header.Type, Body: inner, DefRange: p.keyRange, TypeRange: p.keyRange}}, nil
	}
	var blocks hcl.Blocks
	var diags hcl.Diagnostics
	add := func(label string, at hcl.Range, v *node, hidden map[string]bool) {
		inner, d := b.inner(label, at, v)
		if d != nil {
			diags = append(diags, d)
			return
		}
		inner.hidden = hidden
		blocks = append(blocks, &hcl.Block{
			Type: header.Type, Labels: []string{label}, LabelRanges: []hcl.Range{at}, Body: inner, DefRange: at,
			TypeRange: p.keyRange,
		})
	}
	label := header.LabelNames[0]
	switch {
	case p.value.kind == mapping:
		for _, q := range p.value.pairs {
			add(q.key, q.keyRange, q.value, nil)
		}
	case p.value.kind == sequence:
		for _, item := range p.value.items {
			named := &body{src: b.src, node: item}
			q, ok := named.find(label)
			if !ok || q.value.kind != scalar || q.value.null {
				diags = append(diags, b.src.diag(item.rng, "Missing "+label,
					fmt.Sprintf("Every item of `%s` is a mapping with a `%s`.", p.key, label)))
				continue
			}
			add(q.value.text, q.value.rng, item, map[string]bool{label: true})
		}
	case !p.value.null:
		diags = append(diags, b.src.diag(p.value.rng, "Not a mapping",
			fmt.Sprintf("`%s` is a mapping from %s to contents.", p.key, label)))
	}
	return blocks, diags
}

// inner is the body of a block; nothing after its key is an empty body.
func (b *body) inner(key string, keyRange hcl.Range, v *node) (*body, *hcl.Diagnostic) {
	switch {
	case v.kind == mapping:
		return &body{src: b.src, node: v}, nil
	case v.null:
		return &body{src: b.src, node: &node{kind: mapping, rng: keyRange}}, nil
	}
	return nil, b.src.diag(v.rng, "Not a mapping",
		fmt.Sprintf("`%s` holds keys of its own: write them below it, indented.", key))
}
