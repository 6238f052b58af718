package yamlsyntax

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// body implements hcl.Body for a mapping.
type body struct {
	src    *source
	node   *Node
	hidden map[string]bool // keys that PartialContent has returned
}

// plural is the key of the labelled blocks of a type.
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
		diags = append(diags, b.src.diag(p.KeyRange, "Unsupported argument",
			fmt.Sprintf("An argument named %q is not expected here.", p.Key)))
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
		if !ok || attribute[key] && p.Value.Kind != Mapping {
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
		attrs[p.Key] = b.attribute(p)
	}
	return attrs, nil
}

// MissingItemRange returns where the mapping begins.
func (b *body) MissingItemRange() hcl.Range {
	r := b.node.Range
	r.End = r.Start
	return r
}

func (b *body) visible() []Pair {
	var out []Pair
	for _, p := range b.node.Pairs {
		if !b.hidden[p.Key] {
			out = append(out, p)
		}
	}
	return out
}

func (b *body) find(key string) (Pair, bool) {
	for _, p := range b.node.Pairs {
		if p.Key == key && !b.hidden[key] {
			return p, true
		}
	}
	return Pair{}, false
}

func (b *body) attribute(p Pair) *hcl.Attribute {
	return &hcl.Attribute{
		Name: p.Key, NameRange: p.KeyRange, Range: hcl.RangeBetween(p.KeyRange, p.Value.Range),
		Expr: &expression{src: b.src, node: p.Value},
	}
}

// blocks reads one key as the blocks of a type.
func (b *body) blocks(header hcl.BlockHeaderSchema, p Pair) (hcl.Blocks, hcl.Diagnostics) {
	if len(header.LabelNames) > 1 {
		panic("yamlsyntax: block type " + header.Type + " has more than one label")
	}
	if len(header.LabelNames) == 0 {
		inner, d := b.inner(header.Type, p.Key, p.KeyRange, p.Value)
		if d != nil {
			return nil, hcl.Diagnostics{d}
		}
		return hcl.Blocks{{Type: header.Type, Body: inner, DefRange: p.KeyRange, TypeRange: p.KeyRange}}, nil
	}
	var blocks hcl.Blocks
	var diags hcl.Diagnostics
	add := func(label string, at hcl.Range, v *Node, hidden map[string]bool) {
		inner, d := b.inner(header.Type, label, at, v)
		if d != nil {
			diags = append(diags, d)
			return
		}
		inner.hidden = hidden
		blocks = append(blocks, &hcl.Block{
			Type: header.Type, Labels: []string{label}, LabelRanges: []hcl.Range{at}, Body: inner, DefRange: at,
			TypeRange: p.KeyRange,
		})
	}
	label := header.LabelNames[0]
	switch {
	case p.Value.Kind == Mapping:
		for _, q := range p.Value.Pairs {
			add(q.Key, q.KeyRange, q.Value, nil)
		}
	case p.Value.Kind == Sequence:
		for _, item := range p.Value.Items {
			named := &body{src: b.src, node: item}
			q, ok := named.find(label)
			if !ok || q.Value.Kind != Scalar || q.Value.Null {
				diags = append(diags, b.src.diag(item.Range, "Missing "+label,
					fmt.Sprintf("Every item of `%s` must be a mapping with `%s`.", p.Key, label)))
				continue
			}
			add(q.Value.Text, q.Value.Range, item, map[string]bool{label: true})
		}
	case !p.Value.Null:
		diags = append(diags, b.src.diag(p.Value.Range, "Not a mapping",
			fmt.Sprintf("`%s` must be a mapping from %s to contents.", p.Key, label)))
	}
	return blocks, diags
}

// inner returns the body of a block; a key without a value has an empty body.
func (b *body) inner(blockType, key string, keyRange hcl.Range, v *Node) (*body, *hcl.Diagnostic) {
	switch {
	case v.Kind == Mapping:
		return &body{src: b.src, node: v}, nil
	case v.Null:
		return &body{src: b.src, node: &Node{Kind: Mapping, Range: keyRange}}, nil
	}
	d := b.src.diag(v.Range, "Not a mapping",
		fmt.Sprintf("`%s` must be a mapping: write its keys below it, indented.", key))
	d.Extra = NoMapping{Of: blockType, Name: key, Value: v.Text}
	return nil, d
}

// NoMapping is the Extra of an error about a value in place of the mapping of a block.
type NoMapping struct {
	Of          string // type of the block
	Name, Value string
}
