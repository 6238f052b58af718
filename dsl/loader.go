package dsl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/suggest"
)

// loader holds what the decoding of one file shares: its text, its diagnostics
// and the values that expressions see.
type loader struct {
	file   string
	src    []byte
	yaml   bool
	diags  hcl.Diagnostics
	places *places
	eval   *evaluator
}

// advice is what to do about a diagnostic, kept apart from what is wrong.
type advice string

func (l *loader) error(at hcl.Range, summary, detail, hint string) {
	l.diags = append(l.diags, diagnostic(at, summary, detail, hint))
}

func diagnostic(at hcl.Range, summary, detail, hint string) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}
	if hint != "" {
		d.Extra = advice(hint)
	}
	return d
}

// inOrder sorts by place and drops repetitions.
func inOrder(diags hcl.Diagnostics) hcl.Diagnostics {
	start := func(d *hcl.Diagnostic) int {
		if d.Subject == nil {
			return -1
		}
		return d.Subject.Start.Byte
	}
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int { return cmp.Compare(start(a), start(b)) })
	return slices.CompactFunc(diags, func(a, b *hcl.Diagnostic) bool {
		return start(a) == start(b) && a.Summary == b.Summary && a.Detail == b.Detail
	})
}

// schema names the keys of a body. A section may be a block or an attribute that
// holds a mapping: HCL writes `options { … }`, but needs `sweep = { "env.X" = … }`
// for names that are not identifiers.
type schema struct {
	attributes []string
	sections   []string
	labelled   []string // block types with a name
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
	names := slices.Concat(s.attributes, s.sections)
	for _, b := range s.labelled {
		if l.yaml {
			b += "s"
		}
		names = append(names, b)
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
			d.Extra = advice("Write " + strings.TrimPrefix(d.Summary, "Missing name for ") + ` "NAME" { … }.`)
		}
		l.diags = append(l.diags, d)
	}
	seen := map[string]bool{}
	for _, b := range content.Blocks {
		if len(b.Labels) > 0 {
			continue
		}
		if _, also := content.Attributes[b.Type]; also || seen[b.Type] {
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
	return suggest.Sentence(name, l.known(s), "keys")
}

// entry is one key of a section.
type entry struct {
	name string
	at   hcl.Range
	expr hcl.Expression
}

// section reads a mapping, in file order, from its block or its attribute.
func (l *loader) section(content *hcl.BodyContent, name string) []entry {
	for _, b := range content.Blocks {
		if b.Type == name && len(b.Labels) == 0 {
			attrs, diags := b.Body.JustAttributes()
			l.diags = append(l.diags, diags...)
			var out []entry
			for _, a := range attrs {
				out = append(out, entry{a.Name, a.NameRange, a.Expr})
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
		l.error(expr.Range(), "Not a mapping", quote(name)+" holds keys of its own.", "Write them below it, as "+name+l.sample())
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
		out = append(out, entry{text, p.Key.Range(), p.Value})
	}
	return out
}

func (l *loader) sample() string {
	if l.yaml {
		return ": {key: value}."
	}
	return " { key = value }."
}

func quote(s string) string { return `"` + s + `"` }

// places tells in which run, check or variable an offset of the file lies. It is
// the Nav of the hcl.File, so both syntaxes say it alike.
type places struct{ marks []mark }

type mark struct {
	from int
	name string
}

func (p *places) add(at hcl.Range, name string) {
	p.marks = append(p.marks, mark{at.Start.Byte, name})
	slices.SortStableFunc(p.marks, func(a, b mark) int { return cmp.Compare(a.from, b.from) })
}

// ContextString is what hcl's own diagnostic writers also ask for.
func (p *places) ContextString(offset int) string {
	name := ""
	for _, m := range p.marks {
		if m.from > offset {
			break
		}
		name = m.name
	}
	return name
}
