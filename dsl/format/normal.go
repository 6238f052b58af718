package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"weir/dsl/grammar"
	"weir/dsl/yamlsyntax"
)

// normalizer brings the tree of a YAML file into the form that HCL has too:
// aliases and merge keys followed, lists of named things as mappings.
type normalizer struct {
	diags hcl.Diagnostics
	size  int
}

func (z *normalizer) error(at hcl.Range, summary, format string, args ...any) {
	z.diags = append(z.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at,
	})
}

// expand copies a value with its aliases followed. What an alias repeats is
// repeated without its comments.
func (z *normalizer) expand(n *node, again bool) *node {
	if z.size += len(n.text) + 1; z.size > maxOutput {
		if !z.diags.HasErrors() {
			z.error(n.at, "Too large", "The document is too large once its aliases are followed.")
		}
		return &node{at: n.at, null: true}
	}
	if n.kind == alias {
		return z.expand(n.target, true)
	}
	out := *n
	out.anchor, out.elements = "", nil
	if again {
		out.foot = nil
	}
	var merges []*element
	for _, e := range n.elements {
		if e.merge {
			merges = append(merges, e)
			continue
		}
		c := *e
		c.value = z.expand(e.value, again)
		if e.key != nil {
			key := *e.key
			key.anchor = ""
			c.key = &key
		}
		if again {
			c.head, c.line, c.gap = nil, "", false
		}
		out.elements = append(out.elements, &c)
	}
	for _, m := range merges {
		z.merge(&out, m, again)
	}
	return &out
}

// merge adds what the mapping does not say itself. The comments of the merge key
// go to the first entry that came by it.
func (z *normalizer) merge(into *node, m *element, again bool) {
	from := m.value
	if from.kind == alias {
		from = from.target
	}
	bases := []*node{from}
	if from.kind == list {
		bases = nil
		for _, e := range from.elements {
			bases = append(bases, e.value)
		}
	}
	first := true
	for _, b := range bases {
		for _, e := range z.expand(b, again || m.value.kind == alias || b.kind == alias).elements {
			if into.find(e.key.text) != nil {
				continue
			}
			if first && !again {
				e.foldIn(m)
			}
			first = false
			into.elements = append(into.elements, e)
		}
	}
	if first && !again {
		into.foot = append(into.foot, m.head...)
		if m.line != "" {
			into.foot = append(into.foot, m.line)
		}
	}
}

// keys gives a mapping with known keys its form, and drops what says nothing.
func (z *normalizer) keys(n *node, keys []grammar.Key) {
	var kept []*element
	var gone []*element // without contents; their comments go on to what follows
	for _, e := range n.elements {
		k, _ := grammar.Find(keys, e.key.text)
		if form, ok := k.Form(grammar.Named); ok {
			z.named(e, k, form)
			if len(e.value.elements) == 0 && len(e.value.foot) == 0 && e.value.kind != text {
				gone = append(gone, e)
				continue
			}
		}
		for _, g := range slices.Backward(gone) {
			e.foldIn(g)
		}
		gone = nil
		z.value(e.value, k.Forms)
		kept = append(kept, e)
	}
	n.elements = kept
	rest := &element{}
	for _, g := range slices.Backward(gone) {
		rest.foldIn(g)
	}
	n.foot = append(rest.head, n.foot...)
}

// named makes a mapping of a list of things that carry their name.
func (z *normalizer) named(e *element, k grammar.Key, form grammar.Form) {
	v := e.value
	if v.kind == text && v.null {
		*v = node{kind: mapping, at: v.at, style: block}
	}
	if v.kind == text {
		z.error(v.at, "Not a mapping", "%q is a mapping from name to contents.", k.Name)
		return
	}
	if v.kind == list {
		z.fromList(v, k)
	}
	for _, entry := range v.elements {
		z.section(entry.value, form.Keys)
	}
}

// fromList makes the mapping; `name` becomes the key, and its comments those of
// the whole.
func (z *normalizer) fromList(v *node, k grammar.Key) {
	v.kind = mapping
	seen := map[string]bool{}
	for _, item := range v.elements {
		i := slices.IndexFunc(item.value.elements,
			func(e *element) bool { return e.key != nil && e.key.text == "name" })
		if item.value.kind != mapping || i < 0 || item.value.elements[i].value.kind != text ||
			item.value.elements[i].value.null {
			z.error(item.value.at, "Missing name", "Every item of %q is a mapping with a name.", k.Name)
			item.key = &node{at: item.value.at}
			continue
		}
		name := item.value.elements[i]
		if seen[name.value.text] {
			z.error(name.value.at, "Given twice", "%q was already given.", name.value.text)
		}
		seen[name.value.text] = true
		item.key = &node{text: name.value.text, at: name.value.at}
		rest := slices.Delete(slices.Clone(item.value.elements), i, i+1)
		if len(rest) > 0 && i == 0 {
			rest[0].gap = false
		}
		item.value.elements = rest
		item.head = append(item.head, name.head...)
		if item.line == "" {
			item.line = name.line
		} else if name.line != "" {
			item.head = append(item.head, name.line)
		}
	}
}

// section gives a value with known keys its form; nothing is an empty one.
func (z *normalizer) section(v *node, keys []grammar.Key) {
	if v.kind == text && v.null {
		*v = node{kind: mapping, at: v.at, style: block}
	}
	if v.kind != mapping {
		z.error(v.at, "Not a mapping", "Keys of its own stand here, as KEY: VALUE.")
		return
	}
	z.keys(v, keys)
}

// value gives a value of one of several forms its form.
func (z *normalizer) value(v *node, forms []grammar.Form) {
	switch {
	case v.kind == text && isExpression(forms) && !v.null && !v.template:
		v.text, v.template = "${"+v.text+"}", true
		v.written = ""
	case v.kind == text && v.null && onlySection(forms):
		*v = node{kind: mapping, at: v.at, style: block}
	case v.kind == list:
		items := itemForms(forms)
		for _, e := range v.elements {
			z.value(e.value, items)
		}
	case v.kind == mapping:
		for _, e := range v.elements {
			z.value(e.value, formsOf(forms, e.key.text))
		}
	}
}

// onlySection says whether a place can hold nothing but keys.
func onlySection(forms []grammar.Form) bool {
	for _, f := range forms {
		if f.Shape != grammar.Section && f.Shape != grammar.Map && f.Shape != grammar.Sweep {
			return false
		}
	}
	return len(forms) > 0
}

// sameMeaning says where two trees of different syntaxes say different things,
// "" if they do not.
func sameMeaning(a, b *node) string {
	if a.kind != b.kind || a.null != b.null || len(a.elements) != len(b.elements) || a.kind == text && !sameText(a, b) {
		return fmt.Sprintf("the value on line %d would change", a.at.Start.Line)
	}
	for i, e := range a.elements {
		other := b.elements[i]
		if e.key != nil && normalized(e.key.text) != normalized(other.key.text) {
			return fmt.Sprintf("the key on line %d would change", e.key.at.Start.Line)
		}
		if why := sameMeaning(e.value, other.value); why != "" {
			return why
		}
	}
	return ""
}

func sameText(a, b *node) bool {
	if a.null || a.template != b.template {
		return a.null && b.null
	}
	if !a.template {
		return normalized(a.text) == normalized(b.text)
	}
	return canonicalTemplate(a.text) == canonicalTemplate(b.text)
}

// canonicalTemplate is a template without the white space that makes no
// difference in it: that between the words of its expressions.
func canonicalTemplate(t string) string {
	t = yamlsyntax.QuoteConditions(t)
	if whole, ok := wholeExpression(t); ok {
		t = "${" + whole + "}"
	}
	tokens, _ := hclsyntax.LexTemplate([]byte(normalized(t)), "", hcl.InitialPos)
	var b strings.Builder
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenEOF:
		case hclsyntax.TokenComment:
			b.WriteString(strings.TrimSpace(string(token.Bytes)) + "\x00")
		default:
			b.WriteString(string(token.Bytes) + "\x00")
		}
	}
	return b.String()
}
