package format

import (
	"errors"
	"strings"
	"unicode/utf8"

	"weir/dsl/yamlsyntax"
)

// width is the column up to which a collection stays on one line.
const width = 100

// maxOutput bounds what aliases can multiply a document into.
const maxOutput = 4 << 20

var errTooLong = errors.New("the document is too large once its aliases are followed")

// line is a line of output; its comment is aligned with those of its neighbours.
type line struct{ text, comment string }

// yamlWriter writes a tree as canonical YAML.
type yamlWriter struct {
	lines []line
	size  int
	err   error
}

func writeYAML(root *node) ([]byte, error) {
	w := &yamlWriter{}
	w.elements(root, 0)
	w.comments(root.foot, 0)
	if w.err != nil {
		return nil, w.err
	}
	return w.bytes(), nil
}

func (w *yamlWriter) add(l line) {
	if w.size += len(l.text) + len(l.comment) + 1; w.size > maxOutput {
		w.err = errTooLong
		return
	}
	w.lines = append(w.lines, l)
}

// empty adds an empty line, but not at the start and not a second one.
func (w *yamlWriter) empty() {
	if n := len(w.lines); n > 0 && w.lines[n-1] != (line{}) {
		w.lines = append(w.lines, line{})
	}
}

func (w *yamlWriter) comments(lines []string, indent int) {
	for _, l := range lines {
		if l == "" {
			w.empty()
			continue
		}
		w.add(line{text: spaces(indent) + l})
	}
}

func spaces(n int) string { return strings.Repeat(" ", n) }

// elements writes the entries of a container, each on lines of its own.
func (w *yamlWriter) elements(n *node, indent int) {
	for i, e := range n.elements {
		if w.err != nil {
			return
		}
		if e.gap && i > 0 {
			w.empty()
		}
		w.element(e, indent, "")
	}
}

// element writes one entry. before is what already stands on its line, "- " of a
// list around it.
func (w *yamlWriter) element(e *element, indent int, before string) {
	v := e.value
	lead := spaces(indent)
	if before != "" {
		lead = spaces(indent-len(before)) + before
	}
	head := e.head
	if e.key != nil {
		lead += keyText(e.key, false) + ":"
	} else {
		lead += "-"
	}
	if v.anchor != "" {
		lead += " &" + v.anchor
	}
	if inline, ok := w.inline(v, utf8.RuneCountInString(lead)+1); ok {
		w.comments(head, indent)
		if inline != "" {
			lead += " " + inline
		}
		w.add(line{lead, e.line})
		w.comments(v.foot, indent) // of an empty collection
		return
	}
	if v.kind == text {
		w.comments(head, indent)
		w.longText(v, lead, e.line, indent)
		return
	}
	if e.key == nil && v.anchor == "" {
		w.nestedItem(e, v, indent, lead)
		return
	}
	w.comments(head, indent)
	w.add(line{lead, e.line})
	w.elements(v, indent+2)
	w.comments(v.foot, indent+2)
}

// nestedItem writes a collection that is an item of a list: its first entry
// stands on the line of the dash.
func (w *yamlWriter) nestedItem(e *element, v *node, indent int, lead string) {
	first := v.elements[0]
	w.comments(e.head, indent)
	if e.line != "" {
		w.comments([]string{e.line}, indent)
	}
	w.comments(first.head, indent)
	alone := *first
	alone.head, alone.gap = nil, false
	w.element(&alone, indent+2, strings.TrimLeft(lead, " ")+" ")
	for _, r := range v.elements[1:] {
		if r.gap {
			w.empty()
		}
		w.element(r, indent+2, "")
	}
	w.comments(v.foot, indent+2)
}

// inline is a value on one line, if it fits there.
func (w *yamlWriter) inline(n *node, column int) (string, bool) {
	switch n.kind {
	case alias:
		return n.written, true
	case text:
		s := scalarText(n, false)
		return s, !strings.Contains(s, "\n") && !(n.style == block && n.written != "")
	}
	if len(n.elements) == 0 {
		return map[kind]string{list: "[]", mapping: "{}"}[n.kind], true
	}
	if n.style == block || n.commented() {
		return "", false
	}
	var b strings.Builder
	ok := flowText(&b, n, width-column)
	return b.String(), ok
}

// flowText writes a collection on one line. It is false if that has more than so
// many characters, or something that needs lines of its own.
func flowText(b *strings.Builder, n *node, room int) bool {
	if n.kind == alias {
		b.WriteString(n.written)
		return true
	}
	if n.kind == text {
		s := scalarText(n, true)
		b.WriteString(s)
		return !strings.Contains(s, "\n") && !(n.style == block && n.written != "")
	}
	open, end := "[", "]"
	if n.kind == mapping {
		open, end = "{", "}"
	}
	b.WriteString(open)
	for i, e := range n.elements {
		if i > 0 {
			b.WriteString(", ")
		}
		empty := e.value.kind == text && e.value.null && e.value.text == "" && e.value.anchor == ""
		if e.key != nil {
			b.WriteString(keyText(e.key, true))
			if !empty {
				b.WriteString(": ")
			}
		}
		if e.value.anchor != "" {
			b.WriteString("&" + e.value.anchor + " ")
		}
		if e.value.kind == text && e.value.null && e.value.text == "" && e.key == nil {
			b.WriteString("null")
		} else if !empty && !flowText(b, e.value, room) {
			return false
		}
		if b.Len() > 4*width {
			return false
		}
	}
	b.WriteString(end)
	return utf8.RuneCountInString(b.String()) <= room
}

// keyText is a key as it stands before its colon. `on`, a key of the language, stands
// without quotes, although readers of YAML 1.1 take it for true; so does `<<` that merges.
func keyText(n *node, inFlow bool) string {
	s := yamlsyntax.Quote(n.text)
	switch {
	case n.quoted && n.written != "" && n.style != block && !strings.Contains(n.written, "\n"):
		s = n.written
	case n.text == "on" || n.text == "<<" && !n.quoted && n.written != "" || yamlsyntax.IsPlain(n.text, inFlow):
		s = n.text
	}
	if n.anchor != "" {
		s = "&" + n.anchor + " " + s
	}
	return s
}

// longText writes a text that goes over several lines.
func (w *yamlWriter) longText(n *node, lead, comment string, indent int) {
	s := scalarText(n, false)
	lines := strings.Split(s, "\n")
	if n.style != block && !strings.HasPrefix(s, "|") {
		w.add(line{text: lead + " " + lines[0]})
		for i, l := range lines[1:] {
			l = strings.TrimLeft(l, " \t")
			if l != "" {
				l = spaces(indent+2) + l
			}
			last := line{text: l}
			if i == len(lines)-2 {
				last.comment = comment
			}
			w.add(last)
		}
		return
	}
	w.add(line{lead + " " + blockHeader(lines[0]), comment})
	for _, l := range lines[1:] {
		switch {
		case len(l) > n.indent:
			w.add(line{text: spaces(indent+2) + l[n.indent:]})
		default:
			w.add(line{})
		}
	}
}

// blockHeader gives an indentation that was written as a number its new value.
func blockHeader(header string) string {
	return strings.Map(func(r rune) rune {
		if r >= '1' && r <= '9' {
			return '2'
		}
		return r
	}, strings.TrimSpace(header))
}

// bytes aligns the comments of neighbouring lines.
func (w *yamlWriter) bytes() []byte {
	var b strings.Builder
	for i := 0; i < len(w.lines); {
		n, column := i, 0
		for ; n < len(w.lines) && w.lines[n].comment != ""; n++ {
			column = max(column, utf8.RuneCountInString(w.lines[n].text))
		}
		for ; i < n; i++ {
			l := w.lines[i]
			b.WriteString(l.text + spaces(column-utf8.RuneCountInString(l.text)+2) + l.comment + "\n")
		}
		if i < len(w.lines) {
			b.WriteString(w.lines[i].text + "\n")
			i++
		}
	}
	return []byte(b.String())
}
