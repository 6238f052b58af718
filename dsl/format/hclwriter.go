package format

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
)

// hclWriter writes a tree as HCL. Indentation and alignment are left to the
// formatter; where lines end is decided here.
type hclWriter struct {
	b     strings.Builder
	depth int
	diags hcl.Diagnostics
}

// writeHCL writes the tree of a scenario; its elements have their normal form.
func writeHCL(root *node) ([]byte, hcl.Diagnostics) {
	w := &hclWriter{}
	name := root.find("scenario")
	rest := &node{kind: mapping}
	for _, e := range root.elements {
		if e != name {
			rest.elements = append(rest.elements, e)
		}
	}
	w.comments(name.head)
	w.open("scenario "+quoted(name.value.text), name.line)
	w.body(rest, grammar.Scenario)
	w.close()
	w.comments(root.foot)
	if w.diags.HasErrors() {
		return nil, w.diags
	}
	return layoutHCL([]byte(w.b.String())), nil
}

func (w *hclWriter) line(text string) {
	w.b.WriteString(spaces(2*w.depth) + text + "\n")
}

func (w *hclWriter) open(text, comment string) {
	w.line(withComment(text+" {", comment))
	w.depth++
}

func (w *hclWriter) close() {
	w.depth--
	w.line("}")
}

func withComment(text, comment string) string {
	if comment == "" {
		return text
	}
	return text + " " + comment
}

func (w *hclWriter) comments(lines []string) {
	for _, l := range lines {
		w.line(l)
	}
}

func (w *hclWriter) head(e *element, first bool) {
	if e.gap && !first {
		w.b.WriteByte('\n')
	}
	w.comments(e.head)
}

// body writes attributes and blocks.
func (w *hclWriter) body(n *node, keys []grammar.Key) {
	apart := false // groups of named blocks stand apart from what is around them
	for i, e := range n.elements {
		k, _ := grammar.Find(keys, e.key.text)
		if k.Singular != "" || apart {
			spaced := *e
			spaced.gap = true
			e = &spaced
		}
		apart = k.Singular != ""
		w.entry(e, keys, i == 0)
	}
	w.comments(n.foot)
}

func (w *hclWriter) entry(e *element, keys []grammar.Key, first bool) {
	k, _ := grammar.Find(keys, e.key.text)
	if form, ok := k.Form(grammar.Named); ok {
		w.named(e, k, form, first)
		return
	}
	w.head(e, first)
	if inner, ok := blockKeys(k, e.value); ok {
		w.open(e.key.text, e.line)
		w.body(e.value, inner)
		w.close()
		return
	}
	if !isName(e.key.text) {
		w.diags = append(w.diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Cannot be converted", Subject: &e.key.at,
			Detail: "HCL cannot have the key " + quoted(e.key.text) +
				" here: a key of a block is a name of letters, digits, _ and -.",
		})
		return
	}
	w.assign(e.key.text+" = ", e, k.Forms, "")
}

// named writes a block for each entry, with an empty line between them.
func (w *hclWriter) named(e *element, k grammar.Key, form grammar.Form, first bool) {
	w.head(e, first)
	if e.line != "" {
		w.line(e.line)
	}
	for i, entry := range e.value.elements {
		if i > 0 {
			w.b.WriteByte('\n')
		}
		w.comments(entry.head)
		w.open(k.Singular+" "+quoted(entry.key.text), entry.line)
		w.body(entry.value, form.Keys)
		w.close()
	}
	w.comments(e.value.foot)
}

// blockKeys says whether a value is written as a block, and which keys it has.
// Keys with other forms too are attributes, and so is what has names that are
// none in HCL.
func blockKeys(k grammar.Key, v *node) ([]grammar.Key, bool) {
	if v.kind != mapping || !onlySection(k.Forms) || len(k.Forms) != 1 {
		return nil, false
	}
	form := k.Forms[0]
	if form.Shape == grammar.Section {
		return form.Keys, true
	}
	if slices.ContainsFunc(v.elements, func(e *element) bool { return !isName(e.key.text) }) ||
		// which are no blocks of a free name
		slices.ContainsFunc(form.Value, func(f grammar.Form) bool { return f.Shape == grammar.Section }) {
		return nil, false
	}
	var inner []grammar.Key
	for _, e := range v.elements {
		inner = append(inner, grammar.Key{Name: e.key.text, Forms: formsOf(k.Forms, e.key.text)})
	}
	return inner, true
}

// assign writes what comes before a value, the value, and what comes after it.
func (w *hclWriter) assign(before string, e *element, forms []grammar.Form, after string) {
	v := e.value
	onLines := v.kind == mapping && v.style == block && before != "" && len(v.elements) > 0
	if s, ok := w.inline(v, forms, 2*w.depth+utf8.RuneCountInString(before)); ok && !onLines {
		w.line(withComment(before+s+after, e.line))
		return
	}
	open, end := "[", "]"
	if v.kind == mapping {
		open, end = "{", "}"
	}
	w.line(withComment(before+open, e.line))
	w.depth++
	for i, item := range v.elements {
		w.head(item, i == 0)
		if v.kind == mapping {
			w.assign(hclKey(item.key.text)+" = ", item, formsOf(forms, item.key.text), "")
			continue
		}
		w.assign("", item, itemForms(forms), ",")
	}
	w.comments(v.foot)
	w.depth--
	w.line(end + after)
}

func itemForms(forms []grammar.Form) []grammar.Form {
	var items []grammar.Form
	for _, f := range forms {
		items = append(items, f.Item...)
	}
	return items
}

// inline is a value on one line: scalars always, lists and objects if they fit
// and nothing in them wants lines of its own.
func (w *hclWriter) inline(v *node, forms []grammar.Form, column int) (string, bool) {
	if v.kind == text {
		return hclScalar(v, forms), true
	}
	if v.commented() {
		return "", false
	}
	if len(v.elements) == 0 {
		return map[kind]string{list: "[]", mapping: "{}"}[v.kind], true
	}
	if v.kind == list && wantsLines(itemForms(forms)) {
		return "", false
	}
	var parts []string
	length := 0
	for _, e := range v.elements {
		inner := itemForms(forms)
		before := ""
		if e.key != nil {
			inner, before = formsOf(forms, e.key.text), hclKey(e.key.text)+" = "
		}
		s, ok := w.inline(e.value, inner, 0)
		if !ok || strings.Contains(s, "\n") {
			return "", false
		}
		parts = append(parts, before+s)
		if length += len(s); length > 4*width {
			return "", false
		}
	}
	s := "[" + strings.Join(parts, ", ") + "]"
	if v.kind == mapping {
		s = "{ " + strings.Join(parts, ", ") + " }"
	}
	return s, column+utf8.RuneCountInString(s) < width
}

// wantsLines says whether items are sentences or commands, which read better one a line.
func wantsLines(items []grammar.Form) bool {
	return slices.ContainsFunc(items, func(f grammar.Form) bool {
		return f.Type == grammar.Assertion || f.Shape == grammar.List
	})
}
