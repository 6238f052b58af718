// Sections and their keys, in both syntaxes.

package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// schema names the keys of a body. A section may be a block or an attribute with a mapping: HCL
// writes `options { … }`, but needs `sweep = { "env.X" = … }` for names that are not identifiers.
type schema struct {
	attributes []string
	sections   []string
	labelled   []string // block types with a name
	repeated   []string // sections with possibly several blocks in HCL
	order      []string // all keys, in the order of hints
	keys       []grammar.Key
}

// schemaOf makes a schema of keys of the grammar.
func schemaOf(keys []grammar.Key) schema {
	s := schema{keys: keys}
	for _, k := range keys {
		_, named := k.Form(grammar.Named)
		_, section := k.Form(grammar.Section)
		_, mapping := k.Form(grammar.Map)
		_, sweep := k.Form(grammar.Sweep)
		list, isList := k.Form(grammar.List)
		switch {
		case named:
			s.labelled = append(s.labelled, k.Singular)
			k.Name = k.Singular
		case section || mapping || sweep:
			s.sections = append(s.sections, k.Name)
		default:
			s.attributes = append(s.attributes, k.Name)
		}
		if section && isList && slices.ContainsFunc(list.Item,
			func(f grammar.Form) bool { return f.Shape == grammar.Section }) {
			s.repeated = append(s.repeated, k.Name)
		}
		s.order = append(s.order, k.Name)
	}
	return s
}

func (s schema) hcl() *hcl.BodySchema {
	out := &hcl.BodySchema{}
	for _, a := range s.attributes {
		out.Attributes = append(out.Attributes, hcl.AttributeSchema{Name: a})
	}
	for _, b := range s.sections {
		out.Attributes = append(out.Attributes, hcl.AttributeSchema{Name: b})
		out.Blocks = append(out.Blocks, hcl.BlockHeaderSchema{Type: b})
	}
	for _, b := range s.labelled {
		out.Blocks = append(out.Blocks, hcl.BlockHeaderSchema{Type: b, LabelNames: []string{"name"}})
	}
	return out
}

// known lists the keys in the author's syntax.
func (d *decoder) known(s schema) []string {
	names := slices.Clone(s.order)
	if names == nil {
		names = slices.Concat(s.attributes, s.sections, s.labelled)
	}
	for i, n := range names {
		if d.yaml && slices.Contains(s.labelled, n) {
			names[i] = n + "s"
		}
	}
	return names
}

// content reads a body. It reports keys outside of the schema, with a hint.
func (d *decoder) content(body hcl.Body, s schema, of string) *hcl.BodyContent {
	content, diags := body.Content(s.hcl())
	before := len(d.diags)
	for _, found := range diags {
		if found.Subject != nil &&
			(found.Summary == "Unsupported argument" || found.Summary == "Unsupported block type") {
			name := strings.Trim(string(found.Subject.SliceBytes(d.src)), `"'`)
			found = diagnostic(*found.Subject, "Unknown key", "There is no "+quote(name)+" in "+of+".",
				d.keyHint(name, s, content.Attributes))
			if _, scenario := grammar.Find(s.keys, "runs"); scenario {
				d.places.add(*found.Subject, "") // it ends the section above it
			}
		}
		if wrong, ok := found.Extra.(yamlsyntax.NoMapping); ok {
			if found.Extra = nil; wrong.Of == "variable" && wrong.Value != "" {
				found.Extra = Hint("Write " + wrong.Name + ": {default: " + wrong.Value + "}.")
			}
			d.places.add(*found.Subject, wrong.Of+" "+wrong.Name)
		}
		if strings.HasPrefix(found.Summary, "Missing name for ") && found.Extra == nil && !d.yaml {
			found.Extra = Hint("Write " + strings.TrimPrefix(found.Summary, "Missing name for ") + ` "NAME" { … }.`)
		}
		if what, ok := strings.CutPrefix(found.Summary, "Extraneous label for "); ok {
			found.Extra = Hint("It has no name: write " + what + " { … }.")
			if slices.Contains(s.labelled, what) {
				found.Extra = Hint("One label is enough: write " + what + ` "NAME" { … }.`)
			}
		}
		d.diags = append(d.diags, found)
	}
	seen := map[string]bool{}
	for _, b := range content.Blocks {
		if len(b.Labels) > 0 {
			continue
		}
		_, also := content.Attributes[b.Type]
		if also || seen[b.Type] && !slices.Contains(s.repeated, b.Type) {
			d.error(b.TypeRange, "Given twice", quote(b.Type)+" was already given in "+of+".", "Keep one of the two.")
		}
		seen[b.Type] = true
	}
	return d.markFaulty(content, before)
}

func (d *decoder) keyHint(name string, s schema, beside hcl.Attributes) string {
	for _, b := range s.labelled {
		if d.yaml && name == b || !d.yaml && name == b+"s" {
			if d.yaml {
				return "In YAML, write " + quote(b+"s") + ", a mapping from name to contents."
			}
			return "In HCL, write a block for each: " + b + " \"NAME\" { … }."
		}
		if !d.yaml && name == b {
			return "It is a block: " + b + " \"NAME\" { … }, without the equals sign."
		}
	}
	if !d.yaml && slices.Contains(s.attributes, name) {
		return "It is an argument: " + name + " = …, with an equals sign."
	}
	if hint := d.misplaced(name, s, beside); hint != "" {
		return hint
	}
	return suggest.Documented(name, d.known(s), "keys", "weir docs language")
}

// part is one section: its arguments and its place.
type part struct {
	*hcl.BodyContent
	at hcl.Range
}

// argument is the value of a key; nil if it is absent.
func argument(content *hcl.BodyContent, name string) hcl.Expression {
	if a, ok := content.Attributes[name]; ok {
		return a.Expr
	}
	return nil
}

// parts reads a key that holds sections: blocks, a mapping, or a list of mappings. It returns nil
// if the key is absent.
func (d *decoder) parts(content *hcl.BodyContent, name string, s schema, of string) []part {
	var out []part
	for _, b := range content.Blocks {
		if b.Type == name && len(b.Labels) == 0 {
			out = append(out, part{d.content(b.Body, s, of), b.DefRange})
		}
	}
	expr := argument(content, name)
	if expr == nil {
		return out
	}
	items, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		items = []hcl.Expression{expr}
	}
	for _, e := range items {
		if isMapping(e) {
			out = append(out, d.record(e, s, of))
		} else {
			d.error(e.Range(), "Not a mapping", of+" must be a mapping with the keys "+
				strings.Join(d.known(s), ", ")+".",
				"Write it as "+d.sampleOf(s)+".")
		}
	}
	return out
}

// record reads a mapping that is a value as a section.
func (d *decoder) record(expr hcl.Expression, s schema, of string) part {
	return part{d.recordContent(expr, of, s, of, expr.Range()), expr.Range()}
}

// recordContent reads the keys of a mapping, which messages about its form call name, and those about its keys of.
func (d *decoder) recordContent(expr hcl.Expression, name string, s schema, of string, at hcl.Range) *hcl.BodyContent {
	out := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: at}
	known, before := d.known(s), len(d.diags)
	for _, e := range d.mappingLike(expr, name, d.sampleOf(s)) {
		if !slices.Contains(known, e.name) {
			d.error(e.at, "Unknown key", fmt.Sprintf("There is no %q in %s.", e.name, of),
				d.keyHint(e.name, s, nil))
			continue
		}
		out.Attributes[e.name] = &hcl.Attribute{
			Name: e.name, NameRange: e.at, Range: hcl.RangeBetween(e.at, e.expr.Range()), Expr: e.expr,
		}
	}
	return d.markFaulty(out, before)
}

// complete reports the missing required keys of a section without another error about its keys, and returns whether
// it has all of them.
func (d *decoder) complete(p part, keys []grammar.Key, of string) bool {
	ok := true
	for _, k := range keys {
		if !k.Required || p.Attributes[k.Name] != nil {
			continue
		}
		if ok = false; !d.faulty[p.BodyContent] {
			what := k.Doc
			if len(k.Forms) == 1 && len(k.Forms[0].Values) > 1 {
				values, last := k.Forms[0].Values, len(k.Forms[0].Values)-1
				what = strings.Join(values[:last], ", ") + " or " + values[last]
			}
			d.error(p.at, "Missing key", fmt.Sprintf("%s has no %q.", capital(of), k.Name),
				fmt.Sprintf("Add %s: %s.", k.Name, what))
		}
	}
	return ok
}

// isMapping reports whether an expression is written as pairs.
func isMapping(expr hcl.Expression) bool {
	pairs, diags := hcl.ExprMap(expr)
	return !diags.HasErrors() && pairs != nil
}

// sectionContent returns the content of a section with fixed keys, in either form; nil if it is
// absent.
func (d *decoder) sectionContent(content *hcl.BodyContent, name string, s schema) *hcl.BodyContent {
	p, _ := d.sectionPart(content, name, s)
	return p.BodyContent
}

func (d *decoder) sectionPart(content *hcl.BodyContent, name string, s schema) (part, bool) {
	for _, b := range content.Blocks {
		if b.Type == name && len(b.Labels) == 0 {
			return part{d.content(b.Body, s, quote(name)), b.DefRange}, true
		}
	}
	a, ok := content.Attributes[name]
	if !ok {
		return part{}, false
	}
	return part{d.recordContent(a.Expr, name, s, quote(name), a.NameRange), a.NameRange}, true
}
