package yamlsyntax

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"gopkg.in/yaml.v3"
)

// Limits on the expansion of aliases.
const (
	maxDepth = 64
	maxNodes = 100_000
	// maxTemplate limits the bytes of a template, since its parser is recursive.
	maxTemplate = 16 << 10
)

// builder converts nodes of yaml.v3. An anchored value is built once and shared by its aliases, so
// building takes linear time.
type builder struct {
	src   *source
	diags hcl.Diagnostics
	built map[*yaml.Node]*Node
	open  map[*yaml.Node]bool
	most  int  // maximum number of nodes of a document
	plain bool // ${…} is plain text
	flows int  // number of flow collections around the current value
	stop  bool // a limit was reached: suppress further errors
}

func (b *builder) document(doc *yaml.Node) *Node {
	b.built, b.open = map[*yaml.Node]*Node{}, map[*yaml.Node]bool{}
	if len(doc.Content) != 1 {
		return &Node{Kind: Scalar, Null: true, Range: b.src.span(0, 0)}
	}
	n := b.value(doc.Content[0], 0)
	if b.stop {
		return nil
	}
	n.Head, n.Foot = doc.HeadComment, doc.FootComment
	return n
}

func (b *builder) errorf(rng hcl.Range, summary, format string, args ...any) {
	if !b.stop {
		b.diags = append(b.diags, b.src.diag(rng, summary, fmt.Sprintf(format, args...)))
	}
}

// value builds one node. It never returns nil.
func (b *builder) value(y *yaml.Node, depth int) *Node {
	at := b.src.offset(y.Line, y.Column)
	place := b.src.span(at, min(at+1, len(b.src.src)))
	if b.stop {
		return &Node{Kind: Scalar, Null: true, Range: place}
	}
	if y.Kind == yaml.AliasNode {
		return b.alias(y, at, depth)
	}
	if depth > maxDepth {
		b.errorf(place, "Nested too deeply", "Values are nested more than %d deep here.", maxDepth)
		b.stop = true
		return &Node{Kind: Scalar, Null: true, Range: place}
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
	n := &Node{
		Flow: y.Style&yaml.FlowStyle != 0, Comments: Comments{y.HeadComment, y.LineComment, y.FootComment}, weight: 1,
	}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Mapping
		b.mapping(n, y, at, depth)
	case yaml.SequenceNode:
		n.Kind = Sequence
		end := at
		for _, c := range y.Content {
			item := b.value(c, depth+1)
			n.Items = append(n.Items, item)
			n.add(item, b.most)
			end = max(end, item.Range.End.Byte)
		}
		n.Range = b.src.span(at, b.closing(y, end, ']'))
	default:
		b.scalar(n, y, at)
	}
	b.built[y] = n
	if n.weight > b.most {
		b.errorf(place, "Too large", "The document has more than %d values after expansion of its aliases.", b.most)
		b.stop = true
	}
	return n
}

func (n *Node) add(child *Node, most int) {
	n.weight = min(n.weight+child.weight, most+1)
	n.height = max(n.height, child.height+1)
}

func (b *builder) alias(y *yaml.Node, at, depth int) *Node {
	rng := b.src.span(at, min(at+1+len(y.Value), len(b.src.src)))
	empty := &Node{Kind: Scalar, Null: true, Range: rng}
	if b.open[y.Alias] {
		b.errorf(rng, "Alias inside itself", "*%s is inside of the value that &%s names.",
			y.Value, y.Value)
		b.stop = true
		return empty
	}
	n, ok := b.built[y.Alias]
	if !ok {
		b.errorf(rng, "Unknown anchor", "There is no &%s before this. Quote a text that begins with *.",
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

// closing returns the end of a collection: its bracket if it has one.
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

func (b *builder) mapping(n *Node, y *yaml.Node, at, depth int) {
	end := at
	var merges []*Node
	seen := map[string]hcl.Range{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		if y.Content[i].Kind != yaml.ScalarNode {
			start := b.src.offset(y.Content[i].Line, y.Content[i].Column)
			b.errorf(b.src.span(start, min(start+1, len(b.src.src))), "Invalid key",
				"A key must be a plain text. Quote a text that begins with {, [ or *.")
			continue
		}
		key := b.value(y.Content[i], depth+1)
		value := b.value(y.Content[i+1], depth+1)
		n.add(value, b.most)
		end = max(end, key.Range.End.Byte, value.Range.End.Byte)
		if y.Content[i].Tag == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if first, twice := seen[key.Text]; twice {
			b.errorf(key.Range, "Duplicate key", "%q was already given on line %d. Keep one of the two.", key.Text,
				first.Start.Line)
			continue
		}
		seen[key.Text] = key.Range
		n.Pairs = append(n.Pairs, Pair{
			Key: key.Text, KeyRange: key.Range, Value: value, Comments: pairComments(y.Content[i], y.Content[i+1]),
		})
	}
	n.Range = b.src.span(at, b.closing(y, end, '}'))
	for _, m := range merges {
		b.merge(n, m, seen)
	}
}

// merge adds the pairs of `<<: *base` that the mapping does not set itself.
func (b *builder) merge(n, from *Node, seen map[string]hcl.Range) {
	switch from.Kind {
	case Mapping:
		for _, p := range from.Pairs {
			if _, given := seen[p.Key]; !given {
				seen[p.Key] = p.KeyRange
				n.Pairs = append(n.Pairs, p)
			}
		}
	case Sequence:
		for _, item := range from.Items {
			if item.Kind != Mapping {
				b.errorf(item.Range, "Invalid merge", "`<<` takes mappings only.")
				continue
			}
			b.merge(n, item, seen)
		}
	default:
		b.errorf(from.Range, "Invalid merge", "`<<` needs a mapping, as in `<<: *base`, or a list of mappings.")
	}
}

func (b *builder) scalar(n *Node, y *yaml.Node, at int) {
	s := b.src
	n.Text = y.Value
	inner := at // where the text begins, if it is verbatim
	end := at
	switch {
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		end = s.lineEnd(at)
	case y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && at < len(s.src) &&
		(s.src[at] == '"' || s.src[at] == '\''):
		end = s.endOfQuoted(at)
		inner = at + 1
		n.verbatim = end-1 >= inner && string(s.src[inner:end-1]) == n.Text
	default:
		n.Plain, n.Null = true, n.Text == "" || y.Tag == "!!null"
		end, n.verbatim = s.endOfPlain(at, n.Text)
		n.Range = s.span(at, end)
		b.warnOfScalar(n)
	}
	n.Range = s.span(at, end)
	if b.plain || !strings.Contains(n.Text, "${") && !strings.Contains(n.Text, "%{") {
		return
	}
	if len(n.Text) > maxTemplate {
		b.errorf(n.Range, "Text too long", "A text with ${…} has at most %d bytes.", maxTemplate)
		return
	}
	var diags hcl.Diagnostics
	n.template, diags = hclsyntax.ParseTemplate([]byte(QuoteConditions(n.Text)), s.filename, s.pos(inner))
	if !n.verbatim {
		diags = pointAt(diags, n.Range)
	}
	b.diags = append(b.diags, diags...)
}
