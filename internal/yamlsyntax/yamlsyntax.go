// Package yamlsyntax makes YAML a second syntax of HCL's information model, as hcl's own json
// package does for JSON. A document becomes an hcl.File, and its body and expressions have the same
// interfaces as native HCL.
//
//   - A mapping is a body; its keys are attributes or blocks, as the schema asks.
//   - A labelled block type `run` is the mapping `runs` from label to body, or a
//     list of bodies that carry their label under `name`.
//   - The document as a whole is one labelled block: `scenario: p5` beside the
//     other keys is `scenario "p5" { … }`.
//   - A scalar is its raw text, whatever YAML would take it for: `0777`, `no` and
//     `1.10` are what their place expects. Text with ${…} is an HCL template,
//     parsed where it stands, so that errors point at its characters; inside
//     ${…} YAML's own punctuation means nothing.
//
// Ranges are exact, which yaml.v3 does not give: see positions.go.
package yamlsyntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"gopkg.in/yaml.v3"

	"github.com/weir-bench/weir/internal/suggest"
)

// Parse reads a document that begins with `root: NAME`. The file is never nil; it is empty if the
// document cannot be read.
func Parse(src []byte, filename, root string) (*hcl.File, hcl.Diagnostics) {
	s := newSource(src, filename)
	empty := &hcl.File{Bytes: src, Body: &body{src: s, node: &Node{Kind: Mapping, Range: s.span(0, 0)}}}
	b := &builder{src: s, most: maxNodes}
	top, diags := b.read(fmt.Sprintf("A document must begin with `%s: NAME`.", root))
	if top == nil {
		return empty, diags
	}
	tree, wrapping := wrapRoot(s, top, root)
	diags = append(diags, wrapping...)
	if tree == nil {
		return empty, diags
	}
	return &hcl.File{Bytes: src, Body: &body{src: s, node: tree}}, diags
}

// read builds the tree of a document; nil after an error. whenEmpty is the error for a file without
// a document.
func (b *builder) read(whenEmpty string) (*Node, hcl.Diagnostics) {
	doc, d := b.src.decode(b.plain, whenEmpty)
	if d != nil {
		return nil, hcl.Diagnostics{d}
	}
	top := b.document(doc)
	return top, b.diags
}

// decode decodes the one document of a file with yaml.v3. Unless plain, it hides ${…}.
func (s *source) decode(plain bool, whenEmpty string) (*yaml.Node, *hcl.Diagnostic) {
	if d := encodingError(s); d != nil {
		return nil, d
	}
	src, masked := s.src, false
	if !plain {
		src, masked = mask(src)
	}
	var doc, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(src))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, s.errorAt(0, 0, "Empty file", whenEmpty)
	}
	if err == nil {
		if err = dec.Decode(&second); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			at := s.offset(second.Line, second.Column)
			return nil, s.errorAt(at, s.lineEnd(at), "Several documents in one file",
				"Write each document into its own file, without `---` between them.")
		}
	}
	if err != nil {
		return nil, syntaxError(s, src, err)
	}
	if !plain {
		s.moveAnchorComments(&doc)
		s.markEmptyLines(&doc)
	}
	if masked {
		unmaskAll(&doc)
	}
	return &doc, nil
}

// encodingError refuses text that is not UTF-8 before YAML guesses the encoding.
func encodingError(s *source) *hcl.Diagnostic {
	if bytes.HasPrefix(s.src, []byte{0xFF, 0xFE}) || bytes.HasPrefix(s.src, []byte{0xFE, 0xFF}) {
		return s.errorAt(0, 0, "Not UTF-8", "The file is UTF-16. Save it as UTF-8.")
	}
	for i := 0; i < len(s.src); {
		r, n := utf8.DecodeRune(s.src[i:])
		if r == utf8.RuneError && n == 1 {
			return s.errorAt(i, i+1, "Not UTF-8",
				fmt.Sprintf("Byte 0x%02X is not part of a UTF-8 character. Save the file as UTF-8.", s.src[i]))
		}
		i += n
	}
	return nil
}

// besideScenarios are first keys of other files, with their use.
var besideScenarios = map[string]string{
	"site": "This is a site file, not a scenario: use it with weir run SCENARIO --site FILE.",
}

// wrapRoot converts `root: NAME` beside other keys to a block of type root with the label NAME, so
// that the document has the shape of the native syntax.
func wrapRoot(s *source, top *Node, root string) (*Node, hcl.Diagnostics) {
	fail := func(at hcl.Range, summary, format string, args ...any) (*Node, hcl.Diagnostics) {
		return nil, hcl.Diagnostics{s.diag(at, summary, fmt.Sprintf(format, args...))}
	}
	if top.Kind != Mapping {
		return fail(top.Range, "Not a mapping",
			"A document must be a mapping that begins with `%s: NAME`.", root)
	}
	inner := &Node{Kind: Mapping, Range: top.Range}
	var name *Node
	var keyRange hcl.Range
	for _, p := range top.Pairs {
		if p.Key == root {
			name, keyRange = p.Value, p.KeyRange
			continue
		}
		inner.Pairs = append(inner.Pairs, p)
	}
	switch {
	case name == nil:
		for _, p := range top.Pairs {
			if why, ok := besideScenarios[p.Key]; ok && root == "scenario" {
				return fail(p.KeyRange, "No scenario", "%s", why)
			}
			if suggest.Nearest(p.Key, []string{root}) != "" {
				return fail(p.KeyRange, "Missing name", "There is no key `%s`. Did you mean `%s`?", p.Key, root)
			}
		}
		at := top.Range.Start.Byte
		return fail(s.span(at, at), "Missing name", "The file has no key `%s`: begin it with `%s: NAME`.", root, root)
	case name.Kind != Scalar || name.Null || name.Text == "":
		return fail(keyRange, "Missing name", "`%s` must be a name, a text on the same line: `%s: NAME`.", root, root)
	}
	labelled := Pair{Key: name.Text, KeyRange: name.Range, Value: inner}
	blocks := Pair{
		Key: plural(root), KeyRange: keyRange, Value: &Node{Kind: Mapping, Range: top.Range, Pairs: []Pair{labelled}},
	}
	return &Node{Kind: Mapping, Range: top.Range, Pairs: []Pair{blocks}}, nil
}
