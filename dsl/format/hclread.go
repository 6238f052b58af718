package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

type node = yamlsyntax.Node

// hclReader builds the tree that the same scenario in YAML would have.
type hclReader struct {
	src      []byte
	comments hclComments
	diags    hcl.Diagnostics
}

// readHCL builds the tree of an HCL file.
func readHCL(src []byte, path string) (*node, hcl.Diagnostics) {
	file, diags := hclsyntax.ParseConfig(src, path, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	r := &hclReader{src: src, comments: readComments(src)}
	root := r.file(file.Body.(*hclsyntax.Body))
	return root, r.diags
}

func (r *hclReader) error(at hcl.Range, summary, format string, args ...any) {
	r.diags = append(r.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at,
	})
}

// file reads the one block of a file.
func (r *hclReader) file(body *hclsyntax.Body) *node {
	for _, a := range body.Attributes {
		r.error(a.NameRange, "Outside of the scenario",
			"%q is outside of the scenario, which YAML does not allow.",
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
		return nil
	}
	root := r.body(top.Body, scenario)
	name := yamlsyntax.Pair{
		Key: "scenario", KeyRange: top.TypeRange, Value: &node{Text: top.Labels[0]},
		Comments: r.comments.of(top.Range(), true),
	}
	if before := r.comments.before[top.TypeRange.Start.Byte]; strings.HasSuffix(before, "\n\n") {
		root.Head, name.Head = name.Head, "\n"
	}
	root.Pairs = append([]yamlsyntax.Pair{name}, root.Pairs...)
	root.Foot = r.comments.foot(body.EndRange.Start.Byte)
	return root
}

// body reads attributes and blocks in the order of the file.
func (r *hclReader) body(body *hclsyntax.Body, forms []grammar.Form) *node {
	n := &node{Kind: yamlsyntax.Mapping, Range: body.Range()}
	var items []hclsyntax.Node
	for _, a := range body.Attributes {
		items = append(items, a)
	}
	for _, b := range body.Blocks {
		items = append(items, b)
	}
	slices.SortFunc(items, func(a, b hclsyntax.Node) int { return a.Range().Start.Byte - b.Range().Start.Byte })
	for i, item := range items {
		comments := r.comments.of(item.Range(), i == 0)
		switch item := item.(type) {
		case *hclsyntax.Attribute:
			r.attribute(n, item, comments, forms)
		case *hclsyntax.Block:
			r.block(n, item, comments, forms)
		}
	}
	r.foot(n, body.EndRange.Start.Byte-1)
	return n
}

// foot attaches the comments before a closing bracket to the last entry.
func (r *hclReader) foot(n *node, at int) {
	text := r.comments.foot(at)
	if last := len(n.Pairs) - 1; last >= 0 {
		n.Pairs[last].Foot = joined(n.Pairs[last].Foot, text)
	} else if last := len(n.Items) - 1; last >= 0 {
		n.Items[last].Foot = joined(n.Items[last].Foot, text)
	}
}

func (r *hclReader) attribute(n *node, a *hclsyntax.Attribute, c yamlsyntax.Comments, forms []grammar.Form) {
	if k, _ := grammar.Find(keysOf(forms), a.Name); k.Singular != "" {
		r.error(a.NameRange, "Not an argument", "In HCL %q is a block of its own for each: %s \"NAME\" { … }.", a.Name,
			k.Singular)
		return
	}
	r.put(n, a.Name, a.NameRange, r.expression(a.Expr, formsOf(forms, a.Name)), c)
}

// put adds a key; YAML cannot have duplicate keys.
func (r *hclReader) put(n *node, key string, at hcl.Range, value *node, c yamlsyntax.Comments) {
	for _, p := range n.Pairs {
		if p.Key == key {
			r.error(at, "Given twice", "%q was already given on line %d; YAML allows it once.", key,
				p.KeyRange.Start.Line)
			return
		}
	}
	if c.Line != "" && strings.Contains(value.Text, c.Line) { // it is inside the expression
		c.Line = ""
	}
	n.Pairs = append(n.Pairs, yamlsyntax.Pair{Key: key, KeyRange: at, Value: value, Comments: c})
}

func (r *hclReader) block(n *node, b *hclsyntax.Block, c yamlsyntax.Comments, forms []grammar.Form) {
	keys := keysOf(forms)
	i := slices.IndexFunc(keys, func(k grammar.Key) bool { return k.Singular == b.Type })
	k, known := grammar.Find(keys, b.Type)
	switch {
	case len(b.Labels) == 0 && (k.Singular != "" || !known && i >= 0):
		r.error(b.TypeRange, "Missing name", "A block %s has a name.", b.Type)
	case len(b.Labels) == 0:
		r.put(n, b.Type, b.TypeRange, r.body(b.Body, formsOf(forms, b.Type)), c)
	case i < 0 || len(b.Labels) != 1:
		r.error(b.TypeRange, "Unknown block", "Block %s with %d labels is unknown, so YAML has no equivalent.",
			b.Type, len(b.Labels))
	default:
		all := find(n, keys[i].Name)
		if all == nil {
			all = &node{Kind: yamlsyntax.Mapping}
			var gap yamlsyntax.Comments
			if rest, ok := strings.CutPrefix(c.Head, "\n"); ok {
				gap.Head, c.Head = "\n", rest
			}
			r.put(n, keys[i].Name, b.TypeRange, all, gap)
		}
		r.put(all, b.Labels[0], b.LabelRanges[0], r.body(b.Body, formsOf(keys[i].Forms, b.Labels[0])), c)
	}
}

// find returns the value of a key, nil if there is none.
func find(n *node, key string) *node {
	for _, p := range n.Pairs {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}
