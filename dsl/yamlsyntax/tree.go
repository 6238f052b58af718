package yamlsyntax

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"gopkg.in/yaml.v3"
)

// Limits on what aliases can multiply a document into.
const (
	maxDepth = 64
	maxNodes = 100_000
	// The template parser recurses on what a text holds.
	maxTemplate = 16 << 10
)

type kind int

const (
	scalar kind = iota
	sequence
	mapping
)

// node is a YAML value with its exact place in the file.
type node struct {
	kind     kind
	rng      hcl.Range
	text     string // of a scalar
	null     bool   // an empty, unquoted scalar
	plain    bool   // a scalar without quotes
	template hclsyntax.Expression
	verbatim bool // the file's characters are the text's: inner positions are true
	items    []*node
	pairs    []pair
	weight   int // nodes in the tree below, aliases counted each time
	height   int
}

type pair struct {
	key      string
	keyRange hcl.Range
	value    *node
}

// builder makes nodes from those of yaml.v3. An anchored value is built once and
// shared by its aliases, so building takes linear time whatever they multiply to.
type builder struct {
	src   *source
	diags hcl.Diagnostics
	built map[*yaml.Node]*node
	open  map[*yaml.Node]bool
	most  int  // nodes that a document may have
	plain bool // ${…} is text like any other
	flows int  // flow collections around the value that is built
	stop  bool // a limit was hit: nothing more to say

	masked bool // ${…} stands in the nodes of yaml.v3 as mask writes it
}

func (b *builder) document(doc *yaml.Node) *node {
	b.built, b.open = map[*yaml.Node]*node{}, map[*yaml.Node]bool{}
	if len(doc.Content) != 1 {
		return &node{kind: scalar, null: true, rng: b.src.span(0, 0)}
	}
	n := b.value(doc.Content[0], 0)
	if b.stop {
		return nil
	}
	return n
}

func (b *builder) errorf(rng hcl.Range, summary, format string, args ...any) {
	if !b.stop {
		b.diags = append(b.diags, b.src.diag(rng, summary, fmt.Sprintf(format, args...)))
	}
}

// value builds one node. It never returns nil.
func (b *builder) value(y *yaml.Node, depth int) *node {
	at := b.src.offset(y.Line, y.Column)
	place := b.src.span(at, min(at+1, len(b.src.src)))
	if b.stop {
		return &node{kind: scalar, null: true, rng: place}
	}
	if y.Kind == yaml.AliasNode {
		return b.alias(y, at, depth)
	}
	if depth > maxDepth {
		b.errorf(place, "Nested too deeply", "Values are nested more than %d deep here.", maxDepth)
		b.stop = true
		return &node{kind: scalar, null: true, rng: place}
	}
	if y.Style&yaml.TaggedStyle != 0 {
		b.errorf(b.src.span(at, at+len(y.Tag)), "Tags are not used",
			"Remove the tag %s: every value is read as its place expects.", y.Tag)
	}
	at = b.src.skipProperties(at)
	b.open[y] = true
	defer delete(b.open, y)
	if y.Style&yaml.FlowStyle != 0 {
		b.flows++
		defer func() { b.flows-- }()
	}
	n := &node{weight: 1}
	switch y.Kind {
	case yaml.MappingNode:
		n.kind = mapping
		b.mapping(n, y, at, depth)
	case yaml.SequenceNode:
		n.kind = sequence
		end := at
		for _, c := range y.Content {
			item := b.value(c, depth+1)
			n.items = append(n.items, item)
			n.add(item, b.most)
			end = max(end, item.rng.End.Byte)
		}
		n.rng = b.src.span(at, b.closing(y, end, ']'))
	default:
		b.scalar(n, y, at)
	}
	b.built[y] = n
	if n.weight > b.most {
		b.errorf(place, "Too large", "The document has more than %d values once its aliases are followed.", b.most)
		b.stop = true
	}
	return n
}

func (n *node) add(child *node, most int) {
	n.weight = min(n.weight+child.weight, most+1)
	n.height = max(n.height, child.height+1)
}

func (b *builder) alias(y *yaml.Node, at, depth int) *node {
	rng := b.src.span(at, min(at+1+len(y.Value), len(b.src.src)))
	empty := &node{kind: scalar, null: true, rng: rng}
	if b.open[y.Alias] {
		b.errorf(rng, "Alias inside itself", "*%s stands inside the value that &%s names, which would go on for ever.",
			y.Value, y.Value)
		b.stop = true
		return empty
	}
	n, ok := b.built[y.Alias]
	if !ok {
		b.errorf(rng, "Unknown anchor", "There is no &%s before this. A text that begins with * stands in quotes.",
			y.Value)
		return empty
	}
	if depth+n.height > maxDepth {
		b.errorf(rng, "Nested too deeply", "With *%s values are nested more than %d deep.", y.Value, maxDepth)
		b.stop = true
		return empty
	}
	return n
}

// closing is the end of a collection: its bracket if it has one.
func (b *builder) closing(y *yaml.Node, end int, bracket byte) int {
	if y.Style&yaml.FlowStyle == 0 {
		return end
	}
	s := b.src
	for at := end; at < len(s.src); {
		at = s.skipBlank(at)
		if at < len(s.src) && s.src[at] == bracket {
			return at + 1
		}
		if at < len(s.src) && strings.IndexByte(",[{:?", s.src[at]) < 0 {
			break
		}
		at++
	}
	return end
}

func (b *builder) mapping(n *node, y *yaml.Node, at, depth int) {
	end := at
	var merges []*node
	seen := map[string]hcl.Range{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		if y.Content[i].Kind != yaml.ScalarNode {
			start := b.src.offset(y.Content[i].Line, y.Content[i].Column)
			b.errorf(b.src.span(start, min(start+1, len(b.src.src))), "Invalid key",
				"A key is a plain text. A value that begins with { or [ or * stands in quotes to be a text.")
			continue
		}
		key := b.value(y.Content[i], depth+1)
		value := b.value(y.Content[i+1], depth+1)
		n.add(value, b.most)
		end = max(end, key.rng.End.Byte, value.rng.End.Byte)
		if y.Content[i].Tag == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if first, twice := seen[key.text]; twice {
			b.errorf(key.rng, "Duplicate key", "%q was already given on line %d. Keep one of the two.", key.text,
				first.Start.Line)
			continue
		}
		seen[key.text] = key.rng
		n.pairs = append(n.pairs, pair{key.text, key.rng, value})
	}
	n.rng = b.src.span(at, b.closing(y, end, '}'))
	for _, m := range merges {
		b.merge(n, m, seen)
	}
}

// merge adds the pairs of `<<: *base` that the mapping does not give itself.
func (b *builder) merge(n, from *node, seen map[string]hcl.Range) {
	switch from.kind {
	case mapping:
		for _, p := range from.pairs {
			if _, given := seen[p.key]; !given {
				seen[p.key] = p.keyRange
				n.pairs = append(n.pairs, p)
			}
		}
	case sequence:
		for _, item := range from.items {
			if item.kind != mapping {
				b.errorf(item.rng, "Invalid merge", "`<<` takes mappings only.")
				continue
			}
			b.merge(n, item, seen)
		}
	default:
		b.errorf(from.rng, "Invalid merge", "`<<` takes a mapping, as in `<<: *base`, or a list of mappings.")
	}
}

func (b *builder) scalar(n *node, y *yaml.Node, at int) {
	s := b.src
	n.text = y.Value
	if b.masked {
		n.text = unmask(n.text)
	}
	inner := at // where the text begins, if it is verbatim
	end := at
	switch {
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		end = s.lineEnd(at)
	case y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && at < len(s.src) &&
		(s.src[at] == '"' || s.src[at] == '\''):
		end = s.endOfQuoted(at)
		inner = at + 1
		n.verbatim = end-1 >= inner && string(s.src[inner:end-1]) == n.text
	default:
		n.plain, n.null = true, n.text == "" || y.Tag == "!!null"
		end, n.verbatim = s.endOfPlain(at, n.text)
		n.rng = s.span(at, end)
		b.warnOfScalar(n)
	}
	n.rng = s.span(at, end)
	if b.plain || !strings.Contains(n.text, "${") && !strings.Contains(n.text, "%{") {
		return
	}
	if len(n.text) > maxTemplate {
		b.errorf(n.rng, "Text too long", "A text with ${…} has at most %d bytes.", maxTemplate)
		return
	}
	var diags hcl.Diagnostics
	n.template, diags = hclsyntax.ParseTemplate([]byte(QuoteConditions(n.text)), s.filename, s.pos(inner))
	if !n.verbatim {
		diags = pointAt(diags, n.rng)
	}
	b.diags = append(b.diags, diags...)
}
