package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
	"weir/suggest"
)

// schema names the keys of a body. A section may be a block or an attribute that
// holds a mapping: HCL writes `options { … }`, but needs `sweep = { "env.X" = … }`
// for names that are not identifiers.
type schema struct {
	attributes []string
	sections   []string
	labelled   []string // block types with a name
	repeated   []string // sections of which HCL may have several blocks
	order      []string // all of them, as advice lists them
}

// schemaOf makes a schema of keys of the grammar.
func schemaOf(keys []grammar.Key) schema {
	var s schema
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

// known are the keys as the author of this syntax writes them.
func (l *loader) known(s schema) []string {
	names := slices.Clone(s.order)
	if names == nil {
		names = slices.Concat(s.attributes, s.sections, s.labelled)
	}
	for i, n := range names {
		if l.yaml && slices.Contains(s.labelled, n) {
			names[i] = n + "s"
		}
	}
	return names
}

// content reads a body. Keys that are not in the schema are errors that say which are.
func (l *loader) content(body hcl.Body, s schema, of string) *hcl.BodyContent {
	content, diags := body.Content(s.hcl())
	for _, d := range diags {
		if d.Subject != nil && (d.Summary == "Unsupported argument" || d.Summary == "Unsupported block type") {
			name := strings.Trim(string(d.Subject.SliceBytes(l.src)), `"'`)
			d = diagnostic(*d.Subject, "Unknown key", "There is no "+quote(name)+" in "+of+".", l.keyAdvice(name, s))
		}
		if strings.HasPrefix(d.Summary, "Missing name for ") && d.Extra == nil && !l.yaml {
			d.Extra = Hint("Write " + strings.TrimPrefix(d.Summary, "Missing name for ") + ` "NAME" { … }.`)
		}
		if what, ok := strings.CutPrefix(d.Summary, "Extraneous label for "); ok {
			d.Extra = Hint("It has no name: write " + what + " { … }.")
			if slices.Contains(s.labelled, what) {
				d.Extra = Hint("One label is enough: write " + what + ` "NAME" { … }.`)
			}
		}
		l.diags = append(l.diags, d)
	}
	seen := map[string]bool{}
	for _, b := range content.Blocks {
		if len(b.Labels) > 0 {
			continue
		}
		_, also := content.Attributes[b.Type]
		if also || seen[b.Type] && !slices.Contains(s.repeated, b.Type) {
			l.error(b.TypeRange, "Given twice", quote(b.Type)+" was already given in "+of+".", "Keep one of the two.")
		}
		seen[b.Type] = true
	}
	return content
}

func (l *loader) keyAdvice(name string, s schema) string {
	for _, b := range s.labelled {
		if l.yaml && name == b || !l.yaml && name == b+"s" {
			if l.yaml {
				return "In YAML it is " + quote(b+"s") + ", a mapping from name to contents."
			}
			return "In HCL it is a block of its own for each: " + b + " \"NAME\" { … }."
		}
		if !l.yaml && name == b {
			return "It is a block: " + b + " \"NAME\" { … }, without the equals sign."
		}
	}
	if !l.yaml && slices.Contains(s.attributes, name) {
		return "It is an argument: " + name + " = …, with an equals sign."
	}
	return suggest.Documented(name, l.known(s), "keys", "weir docs language")
}

// part is one section: its arguments and where it stands.
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

// parts reads a key that holds sections: blocks, a mapping, or a list of
// mappings. It is nil if the key is absent.
func (l *loader) parts(content *hcl.BodyContent, name string, s schema, of string) []part {
	var out []part
	for _, b := range content.Blocks {
		if b.Type == name && len(b.Labels) == 0 {
			out = append(out, part{l.content(b.Body, s, of), b.DefRange})
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
			out = append(out, l.record(e, s, of))
		} else {
			l.error(e.Range(), "Not a mapping", of+" holds keys of its own: "+strings.Join(l.known(s), ", ")+".",
				"Write it as "+l.sampleOf(s)+".")
		}
	}
	return out
}

// record reads a mapping that is a value as a section.
func (l *loader) record(expr hcl.Expression, s schema, of string) part {
	return part{l.recordContent(l.mapping(expr, of), s, of, expr.Range()), expr.Range()}
}

func (l *loader) recordContent(entries []entry, s schema, of string, at hcl.Range) *hcl.BodyContent {
	out := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: at}
	known := l.known(s)
	for _, e := range entries {
		if !slices.Contains(known, e.name) {
			l.error(e.at, "Unknown key", fmt.Sprintf("There is no %q in %s.", e.name, of),
				suggest.Documented(e.name, known, "keys", "weir docs language"))
			continue
		}
		out.Attributes[e.name] = &hcl.Attribute{
			Name: e.name, NameRange: e.at, Range: hcl.RangeBetween(e.at, e.expr.Range()), Expr: e.expr,
		}
	}
	return out
}

// complete reports the required keys that a section lacks, and says whether it
// has all of them.
func (l *loader) complete(p part, keys []grammar.Key, of string) bool {
	ok := true
	for _, k := range keys {
		if k.Required && p.Attributes[k.Name] == nil {
			l.error(p.at, "Missing key", fmt.Sprintf("%s has no %q.", capital(of), k.Name),
				fmt.Sprintf("Add %s: %s.", k.Name, k.Doc))
			ok = false
		}
	}
	return ok
}

// isMapping says whether an expression is written as pairs.
func isMapping(expr hcl.Expression) bool {
	pairs, diags := hcl.ExprMap(expr)
	return !diags.HasErrors() && pairs != nil
}

// sectionContent is the content of a section with fixed keys, whichever way it
// is written; nil if it is absent.
func (l *loader) sectionContent(content *hcl.BodyContent, name string, s schema) *hcl.BodyContent {
	p, _ := l.sectionPart(content, name, s)
	return p.BodyContent
}

func (l *loader) sectionPart(content *hcl.BodyContent, name string, s schema) (part, bool) {
	for _, b := range content.Blocks {
		if b.Type == name && len(b.Labels) == 0 {
			return part{l.content(b.Body, s, quote(name)), b.DefRange}, true
		}
	}
	a, ok := content.Attributes[name]
	if !ok {
		return part{}, false
	}
	return part{l.recordContent(l.mapping(a.Expr, name), s, quote(name), a.NameRange), a.NameRange}, true
}

// entry is one key of a section.
type entry struct {
	name      string
	at        hcl.Range
	expr      hcl.Expression
	inherited bool // from the defaults
}

// section reads a mapping, in file order, from its block or its attribute.
func (l *loader) section(content *hcl.BodyContent, name string) []entry {
	for _, b := range content.Blocks {
		if b.Type == name && len(b.Labels) == 0 {
			attrs, diags := b.Body.JustAttributes()
			l.diags = append(l.diags, diags...)
			var out []entry
			for _, a := range attrs {
				out = append(out, entry{name: a.Name, at: a.NameRange, expr: a.Expr})
			}
			slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.at.Start.Byte, b.at.Start.Byte) })
			return out
		}
	}
	if a, ok := content.Attributes[name]; ok {
		return l.mapping(a.Expr, name)
	}
	return nil
}

// mapping reads an expression that holds pairs.
func (l *loader) mapping(expr hcl.Expression, name string) []entry {
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		l.error(expr.Range(), "Not a mapping", quote(name)+" holds keys of its own.",
			"Write them below it, as "+name+l.sample())
		return nil
	}
	var out []entry
	seen := map[string]bool{}
	for _, p := range pairs {
		key, diags := p.Key.Value(nil)
		text, ok := plainText(key)
		if diags.HasErrors() || !ok {
			l.error(p.Key.Range(), "Invalid key", "A key is a plain text.", "Write it without ${…}.")
			continue
		}
		if seen[text] {
			l.error(p.Key.Range(), "Duplicate key", quote(text)+" was already given.", "Keep one of the two.")
			continue
		}
		seen[text] = true
		out = append(out, entry{name: text, at: p.Key.Range(), expr: p.Value})
	}
	return out
}

func (l *loader) sample() string {
	if l.yaml {
		return ": {key: value}."
	}
	return " { key = value }."
}

// sampleOf is how the author of this syntax writes a mapping with some keys.
func (l *loader) sampleOf(s schema) string {
	equals := " = …"
	if l.yaml {
		equals = ": …"
	}
	var keys []string
	for _, k := range l.known(s) {
		keys = append(keys, k+equals)
	}
	return "{" + strings.Join(keys, ", ") + "}"
}
