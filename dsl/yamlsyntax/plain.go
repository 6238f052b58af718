package yamlsyntax

import "github.com/hashicorp/hcl/v2"

// Node is a value of a document that is no scenario but a file of another
// program, with its exact place. Text with ${…} is text like any other there.
type Node struct {
	Kind  Kind // Scalar, Sequence or Mapping
	Text  string
	Null  bool // of a Scalar: empty or null, and not in quotes
	Range hcl.Range
	Items []*Node
	Pairs []Pair
}

// Pair is one key of a mapping with its value.
type Pair struct {
	Key      string
	KeyRange hcl.Range
	Value    *Node
}

// maxPlainNodes is more than a scenario may have: other programs write files of
// thousands of entries.
const maxPlainNodes = 2_000_000

// ParsePlain reads a document of another program. The node is nil if and only if
// there are errors.
func ParsePlain(src []byte, filename string) (*Node, hcl.Diagnostics) {
	b := &builder{src: newSource(src, filename), most: maxPlainNodes, plain: true}
	top, diags := b.read("The file holds no document.")
	if top == nil || diags.HasErrors() {
		return nil, diags
	}
	return exported(top, map[*node]*Node{}), diags
}

// exported keeps what aliases share shared.
func exported(n *node, made map[*node]*Node) *Node {
	if out, ok := made[n]; ok {
		return out
	}
	out := &Node{
		Kind: [...]Kind{scalar: Scalar, sequence: Sequence, mapping: Mapping}[n.kind], Text: n.text, Null: n.null,
		Range: n.rng,
	}
	for _, item := range n.items {
		out.Items = append(out.Items, exported(item, made))
	}
	for _, p := range n.pairs {
		out.Pairs = append(out.Pairs, Pair{p.key, p.keyRange, exported(p.value, made)})
	}
	made[n] = out
	return out
}
