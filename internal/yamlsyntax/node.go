package yamlsyntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Node is a value of a document with its exact place. Aliases share the node of their anchor; merge
// keys are resolved.
type Node struct {
	Kind  Kind
	Range hcl.Range
	Text  string // of a Scalar
	Null  bool   // of a Scalar: empty or null, unquoted
	Plain bool   // of a Scalar: unquoted
	Flow  bool   // of a collection, for Write: on one line if it is short
	Items []*Node
	Pairs []Pair
	Comments

	template hclsyntax.Expression
	verbatim bool // the file's characters equal the text, so inner positions are exact
	weight   int  // number of nodes in the tree, counting aliases each time
	height   int
}

// Kind is the kind of a value.
type Kind int

// The kinds of values.
const (
	Scalar Kind = iota
	Sequence
	Mapping
)

// Pair is one key of a mapping with its value.
type Pair struct {
	Key      string
	KeyRange hcl.Range
	Value    *Node
	Comments
}

// Comments are the comments of a pair, an item or a whole document: lines that begin with #. They
// include empty lines of the file.
type Comments struct {
	Head, Line, Foot string // before it, at the end of its line, after it
}

// ParseTree reads a scenario. The node is nil if and only if there are errors.
func ParseTree(src []byte, filename string) (*Node, hcl.Diagnostics) {
	return parseTree(&builder{src: newSource(src, filename), most: maxNodes})
}

// maxPlainNodes is higher than for scenarios, since files of other programs have thousands of
// entries.
const maxPlainNodes = 2_000_000

// ParsePlain reads a document of another program, in which ${…} is plain text. The node is nil if
// and only if there are errors.
func ParsePlain(src []byte, filename string) (*Node, hcl.Diagnostics) {
	return parseTree(&builder{src: newSource(src, filename), most: maxPlainNodes, plain: true})
}

func parseTree(b *builder) (*Node, hcl.Diagnostics) {
	top, diags := b.read("The file has no document.")
	if diags.HasErrors() {
		return nil, diags
	}
	return top, diags
}
