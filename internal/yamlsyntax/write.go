package yamlsyntax

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// Format formats a scenario without errors. It fails if values or comments would change. The layout
// is repeated until nothing changes, because yaml.v3 attaches some comments to another key when it
// reads its own output.
func Format(src []byte, filename string) ([]byte, error) {
	before, diags := ParseTree(src, filename)
	if diags.HasErrors() {
		return nil, diags
	}
	out := src
	for range 5 {
		doc, d := newSource(out, filename).decode(false, "")
		if d != nil {
			return nil, d
		}
		next, err := layOut(doc)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(next, out) {
			break
		}
		out = next
	}
	after, diags := ParseTree(out, filename)
	if diags.HasErrors() {
		return nil, fmt.Errorf("the formatted file would be invalid: %w", diags)
	}
	if line := firstDifference(before, after); line > 0 {
		return nil, fmt.Errorf("the value on line %d would change", line)
	}
	if line := firstLost(src, out); line > 0 {
		return nil, fmt.Errorf("the comment on line %d would be lost; move it before a key, indented like it", line)
	}
	return out, nil
}

// firstDifference returns the line in a of the first value that differs in b; 0: none.
func firstDifference(a, b *Node) int {
	if a.Kind != b.Kind || a.Text != b.Text || a.Null != b.Null || len(a.Items) != len(b.Items) ||
		len(a.Pairs) != len(b.Pairs) {
		return a.Range.Start.Line
	}
	for i, item := range a.Items {
		if line := firstDifference(item, b.Items[i]); line > 0 {
			return line
		}
	}
	for i, p := range a.Pairs {
		if p.Key != b.Pairs[i].Key {
			return p.KeyRange.Start.Line
		}
		if line := firstDifference(p.Value, b.Pairs[i].Value); line > 0 {
			return line
		}
	}
	return 0
}

// Write writes a tree in the layout of Format.
func Write(root *Node) ([]byte, error) {
	doc := &yaml.Node{Kind: yaml.DocumentNode, HeadComment: root.Head, FootComment: root.Foot}
	doc.Content = []*yaml.Node{yamlNode(root)}
	return layOut(doc)
}

// yamlNode converts a value to a node of yaml.v3.
func yamlNode(n *Node) *yaml.Node {
	y := &yaml.Node{
		Kind: yaml.ScalarNode, Value: n.Text, HeadComment: n.Head, LineComment: n.Line, FootComment: n.Foot,
	}
	switch {
	case n.Kind == Sequence:
		y.Kind = yaml.SequenceNode
	case n.Kind == Mapping:
		y.Kind = yaml.MappingNode
	case n.Null:
		y.Value, y.Tag = "null", "!!null"
	case strings.Contains(n.Text, "\n") && fitsBlock(n.Text):
		y.Style = yaml.LiteralStyle
	case !n.Plain && !IsPlain(n.Text, false):
		y.Style = quoteStyle(n.Text)
	}
	if n.Flow && n.Kind != Scalar {
		y.Style = yaml.FlowStyle
	}
	for _, item := range n.Items {
		y.Content = append(y.Content, yamlNode(item))
	}
	for _, p := range n.Pairs {
		key := yamlNode(&Node{Text: p.Key, Plain: p.Key == "on", Comments: p.Comments})
		y.Content = append(y.Content, key, yamlNode(p.Value))
	}
	return y
}

// layOut writes a document in its canonical layout.
func layOut(doc *yaml.Node) ([]byte, error) {
	for _, top := range doc.Content {
		top.Style &^= yaml.FlowStyle
		restyle(top, nil, -2)
	}
	if marked(doc) {
		return nil, errors.New("a text has # before U+E080 or U+E081, which the formatter reserves")
	}
	markAll(doc)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return nil, err
	}
	return unmarked(b.Bytes()), nil
}
