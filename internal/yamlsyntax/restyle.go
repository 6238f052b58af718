package yamlsyntax

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// width is the maximum column of a collection on one line.
const width = 100

const quotes = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle

// restyle chooses the quotes of texts, and converts flow collections that are long or have inner
// comments to block style. column is the indentation of the value's line; key is nil for an item.
func restyle(y, key *yaml.Node, column int) {
	flow := len(y.Content) == 0 ||
		y.Style&yaml.FlowStyle != 0 && !commented(y) && column+flowWidth(y)+flowWidth(key) <= width+2
	switch {
	case y.Kind == yaml.ScalarNode || y.Kind == yaml.AliasNode:
		restyleAll(y, false)
		return
	case flow && key != nil: // yaml.v3 writes no comment between a key and a flow collection
		y.LineComment, key.LineComment = joined(key.LineComment, y.LineComment), ""
	case !flow && key != nil:
		key.LineComment, y.LineComment = joined(key.LineComment, y.LineComment), ""
	case !flow:
		y.HeadComment, y.LineComment = joined(y.HeadComment, y.LineComment), ""
	}
	if flow {
		restyleAll(y, true)
		return
	}
	y.Style &^= yaml.FlowStyle
	for i, c := range y.Content {
		switch {
		case y.Kind == yaml.SequenceNode:
			moveHead(c)
			after := key
			if i+1 < len(y.Content) {
				after = y.Content[i+1]
			}
			moveFoot(c, after, after == key)
			restyle(c, nil, column+2)
		case i%2 == 0:
			restyleKey(c, false)
		default:
			restyle(c, y.Content[i-1], column+2)
		}
	}
}

// moveHead moves the comments before the first key of an item to the item.
func moveHead(item *yaml.Node) {
	if item.Kind == yaml.MappingNode && len(item.Content) > 0 {
		first := item.Content[0]
		item.HeadComment = joined(item.HeadComment, first.HeadComment)
		first.HeadComment = ""
	}
}

// moveFoot moves the comments after a collection that is an item to the next item, or to the end of
// the sequence's key: yaml.v3 loses them, or writes a comma before them.
func moveFoot(item, after *yaml.Node, isKey bool) {
	switch {
	case item.Kind == yaml.ScalarNode || item.FootComment == "" || after == nil:
		return
	case isKey:
		after.FootComment = joined(item.FootComment, after.FootComment)
	default:
		after.HeadComment = joined(item.FootComment, after.HeadComment)
	}
	item.FootComment = ""
}

// commented reports whether a collection has comments inside or after it.
func commented(y *yaml.Node) bool {
	return y.FootComment != "" || slices.ContainsFunc(y.Content, func(c *yaml.Node) bool {
		return c.HeadComment+c.LineComment != "" || commented(c)
	})
}

// flowWidth estimates the characters of a value in flow style. It stops counting beyond width.
func flowWidth(y *yaml.Node) int {
	if y == nil {
		return 0
	}
	n := utf8.RuneCountInString(y.Value) + 2
	if scalarStyle(y, true) != 0 {
		n += 2
	}
	for i := 0; i < len(y.Content) && n <= 2*width; i++ {
		n += flowWidth(y.Content[i])
	}
	return n
}

// restyleAll chooses the quotes of a scalar, or of all scalars in a flow collection.
func restyleAll(y *yaml.Node, flow bool) {
	if y.Kind == yaml.ScalarNode {
		if flow && y.Value == "" && scalarStyle(y, true) == 0 {
			y.Value = "null"
		}
		y.Style = scalarStyle(y, flow)
	}
	y.Tag = ""
	for i, c := range y.Content {
		if y.Kind == yaml.MappingNode && i%2 == 0 {
			restyleKey(c, flow)
		} else {
			restyleAll(c, flow)
		}
	}
}

// restyleKey chooses the quotes of a key. The key `on` stays unquoted, although YAML 1.1 reads it
// as true, and so does the merge key.
func restyleKey(y *yaml.Node, flow bool) {
	if y.Style&quotes == 0 && (y.Value == "on" || y.Tag == "!!merge") {
		y.Tag = ""
		return
	}
	if y.Style = scalarStyle(y, flow); y.Value == "" {
		y.Style = yaml.DoubleQuotedStyle
	}
	y.Tag = ""
}

// scalarStyle adds quotes if some reader of YAML would refuse an unquoted text or read another
// value, and removes quotes without effect.
func scalarStyle(y *yaml.Node, flow bool) yaml.Style {
	switch {
	case y.Kind != yaml.ScalarNode:
		return 0
	case y.Style&quotes != 0 && IsPlain(y.Value, true) && !(flow && strings.Contains(y.Value, ":")):
		return 0
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && !fitsBlock(y.Value):
		return quoteStyle(y.Value)
	case y.Style != 0:
		return y.Style
	case !ReadAlike(y.Value, flow) || strings.Contains(y.Value, "\n") || flow && strings.Contains(y.Value, ":"):
		return quoteStyle(y.Value)
	}
	return 0
}

// quoteStyle returns the kind of quotes that Quote writes.
func quoteStyle(text string) yaml.Style {
	if strings.HasPrefix(Quote(text), "'") {
		return yaml.SingleQuotedStyle
	}
	return yaml.DoubleQuotedStyle
}
