package format

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// width is the maximum column of a collection on one line.
const width = 100

// maxOutput bounds the expansion of aliases.
const maxOutput = 4 << 20

// hclWriter writes a tree as HCL. hclwrite then indents and aligns it.
type hclWriter struct {
	b     strings.Builder
	depth int
	file  hcl.Range
	diags hcl.Diagnostics
	// values with comments already written; an alias does not repeat them
	written map[*node]bool
}

// writeHCL writes the tree of a scenario.
func writeHCL(root *node) ([]byte, hcl.Diagnostics) {
	w := &hclWriter{file: root.Range, written: map[*node]bool{}}
	i := slices.IndexFunc(root.Pairs, func(p yamlsyntax.Pair) bool { return p.Key == "scenario" })
	name, rest := root.Pairs[i], *root
	rest.Pairs = slices.Delete(slices.Clone(root.Pairs), i, i+1)
	w.lines(root.Head)
	if root.Head != "" {
		w.line("")
	}
	w.lines(strings.TrimPrefix(name.Head, "\n"))
	w.block("scenario "+quoted(name.Value.Text), &rest, name.Line, scenario)
	w.lines(name.Foot)
	w.lines(root.Foot)
	if w.diags.HasErrors() {
		return nil, w.diags
	}
	return formatHCL([]byte(w.b.String())), nil
}

func (w *hclWriter) error(at hcl.Range, summary, format string, args ...any) {
	w.diags = append(w.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at,
	})
}

// full reports whether the output has reached its limit.
func (w *hclWriter) full() bool {
	if w.b.Len() > maxOutput && !w.diags.HasErrors() {
		w.error(w.file, "Too large", "The document is too large after expansion of its aliases.")
	}
	return w.b.Len() > maxOutput
}

func (w *hclWriter) line(text string) {
	if !w.full() {
		w.b.WriteString(strings.Repeat("  ", w.depth) + text + "\n")
	}
}

// lines writes comments.
func (w *hclWriter) lines(text string) {
	if text == "\n" {
		w.line("")
	} else if text != "" {
		for l := range strings.SplitSeq(text, "\n") {
			w.line(l)
		}
	}
}

func withComment(text, comment string) string {
	return strings.TrimRight(text+" "+strings.ReplaceAll(comment, "\n", " "), " ")
}

// head writes the comments before a value and returns the others; none for a repeated alias.
func (w *hclWriter) head(of *node, c yamlsyntax.Comments, first bool) yamlsyntax.Comments {
	if w.written[of] {
		return yamlsyntax.Comments{}
	}
	w.written[of] = true
	if first {
		c.Head = strings.TrimPrefix(c.Head, "\n")
	}
	w.lines(c.Head)
	return c
}

// body writes attributes and blocks.
func (w *hclWriter) body(n *node, forms []grammar.Form) {
	apart := false // blank lines separate named blocks
	for i, p := range n.Pairs {
		k, _ := grammar.Find(keysOf(forms), p.Key)
		if i > 0 && (apart || k.Singular != "") && !strings.HasPrefix(p.Head, "\n") {
			w.line("")
		}
		apart = k.Singular != ""
		p.Comments = w.head(p.Value, p.Comments, i == 0)
		if apart {
			w.named(p, k)
		} else {
			w.pair(p, formsOf(forms, p.Key))
		}
		w.lines(p.Foot)
	}
}

func (w *hclWriter) pair(p yamlsyntax.Pair, forms []grammar.Form) {
	switch {
	case isBlock(p.Value, forms):
		w.block(p.Key, p.Value, p.Line, forms)
	case isName(p.Key):
		w.assign(p.Key+" = ", p.Value, p.Line, forms, "")
	default:
		w.error(p.KeyRange, "Cannot be converted",
			"HCL cannot have the key %s here: a key of a block is a name of letters, digits, _ and -.", quoted(p.Key))
	}
}

func (w *hclWriter) block(title string, v *node, comment string, forms []grammar.Form) {
	w.line(withComment(title+" {", comment))
	w.depth++
	w.body(v, forms)
	w.depth--
	w.line("}")
}

// named writes a block for each entry of a mapping, or of a list of named items.
func (w *hclWriter) named(p yamlsyntax.Pair, k grammar.Key) {
	w.lines(p.Line)
	entries := p.Value.Pairs
	if p.Value.Kind == yamlsyntax.Scalar && !p.Value.Null {
		w.error(p.Value.Range, "Not a mapping", "%q is a mapping from name to contents.", k.Name)
	}
	seen := map[string]bool{}
	for _, item := range p.Value.Items {
		entry, ok := w.entry(item, k)
		if ok && seen[entry.Key] {
			w.error(entry.KeyRange, "Given twice", "%q was already given.", entry.Key)
		}
		seen[entry.Key] = true
		entries = append(entries, entry)
	}
	for i, entry := range entries {
		if entry.Value.Kind != yamlsyntax.Mapping && !entry.Value.Null {
			w.error(entry.Value.Range, "Not a mapping", "This must be a mapping: KEY: VALUE.")
		}
		if i > 0 && !strings.HasPrefix(entry.Head, "\n") {
			w.line("")
		}
		c := w.head(entry.Value, entry.Comments, i == 0)
		w.block(k.Singular+" "+quoted(entry.Key), entry.Value, c.Line, formsOf(k.Forms, entry.Key))
		w.lines(c.Foot)
	}
}

// entry returns an item of a list as a pair, named by its key `name`.
func (w *hclWriter) entry(item *node, k grammar.Key) (yamlsyntax.Pair, bool) {
	i := slices.IndexFunc(item.Pairs, func(p yamlsyntax.Pair) bool { return p.Key == "name" })
	if i < 0 || item.Pairs[i].Value.Kind != yamlsyntax.Scalar || item.Pairs[i].Value.Null {
		w.error(item.Range, "Missing name", "Every item of %q is a mapping with a name.", k.Name)
		return yamlsyntax.Pair{Value: item}, false
	}
	name, rest := item.Pairs[i], *item
	rest.Pairs = slices.Delete(slices.Clone(item.Pairs), i, i+1)
	return yamlsyntax.Pair{
		Key: name.Value.Text, KeyRange: name.Value.Range, Value: &rest,
		Comments: yamlsyntax.Comments{
			Head: strings.TrimRight(item.Head+"\n"+strings.Trim(name.Head, "\n"), "\n"),
			Line: joined(item.Line, name.Line), Foot: joined(name.Foot, item.Foot),
		},
	}, true
}

// isBlock reports whether a value is written as a block. It is an attribute if its key has other
// forms, if its names are not valid in HCL, or if it has sections with free names.
func isBlock(v *node, forms []grammar.Form) bool {
	if v.Kind != yamlsyntax.Mapping && !v.Null || !onlySection(forms) || len(forms) != 1 {
		return false
	}
	return forms[0].Shape == grammar.Section ||
		!slices.ContainsFunc(v.Pairs, func(p yamlsyntax.Pair) bool { return !isName(p.Key) }) &&
			!slices.ContainsFunc(forms[0].Value, func(f grammar.Form) bool { return f.Shape == grammar.Section })
}

// assign writes a value between two texts.
func (w *hclWriter) assign(before string, v *node, comment string, forms []grammar.Form, after string) {
	if w.full() {
		return
	}
	s, ok := inline(v, forms)
	if ok && 2*w.depth+utf8.RuneCountInString(before+s) < width || v.Kind == yamlsyntax.Scalar {
		w.line(withComment(before+s+after, comment))
		return
	}
	open, end := "[", "]"
	if v.Kind == yamlsyntax.Mapping {
		open, end = "{", "}"
	}
	w.line(withComment(before+open, comment))
	w.depth++
	for i, item := range v.Items {
		c := w.head(item, item.Comments, i == 0)
		w.assign("", item, c.Line, itemForms(forms), ",")
		w.lines(c.Foot)
	}
	for i, p := range v.Pairs {
		c := w.head(p.Value, p.Comments, i == 0)
		w.assign(hclKey(p.Key)+" = ", p.Value, c.Line, formsOf(forms, p.Key), "")
		w.lines(c.Foot)
	}
	w.depth--
	w.line(end + after)
}

// inline formats a value on one line; false if it has inner comments or block style.
func inline(v *node, forms []grammar.Form) (string, bool) {
	switch {
	case v.Null && onlySection(forms):
		return "{}", true
	case v.Kind == yamlsyntax.Scalar:
		s := hclScalar(v, forms)
		return s, !strings.Contains(s, "\n")
	}
	open, end, none := "[", "]", "[]"
	if v.Kind == yamlsyntax.Mapping {
		open, end, none = "{ ", " }", "{}"
	}
	if len(v.Items)+len(v.Pairs) == 0 {
		return none, true
	}
	var parts []string
	length := 0
	ok := v.Flow
	add := func(before string, v *node, c yamlsyntax.Comments, forms []grammar.Form) {
		if ok = ok && length < width && strings.Trim(c.Head+c.Line+c.Foot, "\n") == ""; ok {
			var s string
			s, ok = inline(v, forms)
			parts = append(parts, before+s)
			length += len(s)
		}
	}
	for _, item := range v.Items {
		add("", item, item.Comments, itemForms(forms))
	}
	for _, p := range v.Pairs {
		add(hclKey(p.Key)+" = ", p.Value, p.Comments, formsOf(forms, p.Key))
	}
	return open + strings.Join(parts, ", ") + end, ok
}
