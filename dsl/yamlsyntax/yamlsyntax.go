// Package yamlsyntax makes YAML a second syntax of HCL's information model, as
// hcl's own json package does for JSON: a document becomes an hcl.File whose
// body and expressions are read through the same interfaces as native HCL.
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

	"weir/suggest"
)

// Parse reads a document whose key `root` names it. The file is never nil; it
// is empty where the document could not be read.
func Parse(src []byte, filename, root string) (*hcl.File, hcl.Diagnostics) {
	s := newSource(src, filename)
	empty := &hcl.File{Bytes: src, Body: &body{src: s, node: &node{kind: mapping, rng: s.span(0, 0)}}}
	b := &builder{src: s, most: maxNodes}
	top, diags := b.read(fmt.Sprintf("A document begins with `%s: NAME`.", root))
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

// read builds the tree of a document; nil where it could not be read. whenEmpty is
// what to say of a file without a document.
func (b *builder) read(whenEmpty string) (*node, hcl.Diagnostics) {
	s := b.src
	if d := encodingError(s); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	masked := s.src
	if !b.plain {
		masked, b.masked = mask(masked)
	}
	var doc, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(masked))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, hcl.Diagnostics{s.errorAt(0, 0, "Empty file", whenEmpty)}
	}
	if err == nil {
		if err = dec.Decode(&second); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			at := s.offset(second.Line, second.Column)
			return nil, hcl.Diagnostics{
				s.errorAt(at, s.lineEnd(at), "Several documents in one file",
					"Write each document into its own file, without `---` between them."),
			}
		}
	}
	if err != nil {
		return nil, hcl.Diagnostics{syntaxError(s, masked, err)}
	}
	top := b.document(&doc)
	return top, b.diags
}

// encodingError refuses what is not UTF-8 before YAML guesses at it.
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

// besideScenarios are first keys of files that are no scenarios, and how those are used.
var besideScenarios = map[string]string{
	"site": "This is a site file, which is given beside a scenario: weir run SCENARIO --site FILE.",
}

// wrapRoot turns `root: NAME` beside other keys into a block of type root with
// the label NAME, so that the document has the shape of the native syntax.
func wrapRoot(s *source, top *node, root string) (*node, hcl.Diagnostics) {
	if top.kind != mapping {
		return nil, hcl.Diagnostics{
			s.diag(top.rng, "Not a mapping", fmt.Sprintf("A document is a mapping of keys to values that begins with `%s: NAME`.",
				root)),
		}
	}
	inner := &node{kind: mapping, rng: top.rng}
	var name *node
	var keyRange hcl.Range
	for _, p := range top.pairs {
		if p.key == root {
			name, keyRange = p.value, p.keyRange
			continue
		}
		inner.pairs = append(inner.pairs, p)
	}
	switch {
	case name == nil:
		at := top.rng.Start.Byte
		for _, p := range top.pairs {
			if why, ok := besideScenarios[p.key]; ok && root == "scenario" {
				return nil, hcl.Diagnostics{s.diag(p.keyRange, "No scenario", why)}
			}
			if suggest.Nearest(p.key, []string{root}) != "" {
				return nil, hcl.Diagnostics{s.diag(p.keyRange, "Missing name",
					fmt.Sprintf("There is no key `%s`. Did you mean `%s`?", p.key, root))}
			}
		}
		return nil, hcl.Diagnostics{
			s.errorAt(at, at, "Missing name", fmt.Sprintf("The file has no key `%s`: begin it with `%s: NAME`.", root,
				root)),
		}
	case name.kind != scalar || name.null || name.text == "":
		return nil, hcl.Diagnostics{
			s.diag(keyRange, "Missing name", fmt.Sprintf("`%s` is the name, a text on the same line: `%s: NAME`.", root,
				root)),
		}
	}
	block := &node{kind: mapping, rng: top.rng, pairs: []pair{{key: name.text, keyRange: name.rng, value: inner}}}
	return &node{kind: mapping, rng: top.rng, pairs: []pair{{key: plural(root), keyRange: keyRange, value: block}}}, nil
}
