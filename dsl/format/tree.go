package format

import (
	"github.com/hashicorp/hcl/v2"
)

// node is a value of either syntax as it was written, with its comments: what
// both readers make and both writers take.
type node struct {
	kind   kind
	at     hcl.Range
	text   string // of a text: what its place reads; with template, the template as YAML writes it
	quoted bool   // of a text: it stood in quotes
	// template says that the text holds ${…} or %{…}, to be evaluated.
	template bool
	null     bool
	elements []*element
	foot     []string // comments after the last element; "" is an empty line

	// How YAML wrote it; HCL leaves all of this empty.
	written string // of a text: its characters, without what quotes are not needed for
	style   style
	indent  int // of a block text: columns before it
	anchor  string
	target  *node // of an alias: what it stands for; text is the anchor's name
}

type kind int

const (
	text kind = iota
	list
	mapping
	alias
)

type style int

const (
	free  style = iota // the writer chooses
	flow               // as [a, b]: stays so if it fits
	block              // on lines of its own
)

// element is an item of a list or a key of a mapping with its value.
type element struct {
	key   *node // nil in a list
	value *node
	merge bool // the key is YAML's <<

	head []string // comments before it; "" is an empty line
	gap  bool     // an empty line comes before it and its comments
	line string   // the comment at the end of its line

	start, end int // byte offsets in the source
}

// find gives the element with a key.
func (n *node) find(key string) *element {
	for _, e := range n.elements {
		if e.key != nil && e.key.text == key {
			return e
		}
	}
	return nil
}

// commented says whether any comment stands in the value.
func (n *node) commented() bool {
	if len(n.foot) > 0 {
		return true
	}
	for _, e := range n.elements {
		if len(e.head) > 0 || e.line != "" || e.value.commented() {
			return true
		}
	}
	return false
}

// foldIn moves the comments of an element that will not be written before another.
func (e *element) foldIn(gone *element) {
	head := append([]string{}, gone.head...)
	if gone.line != "" {
		head = append(head, gone.line)
	}
	e.head = append(head, e.head...)
	e.gap = e.gap || gone.gap
}
