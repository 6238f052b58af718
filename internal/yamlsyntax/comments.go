package yamlsyntax

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// pairComments joins the comments of a key and its value.
func pairComments(key, value *yaml.Node) Comments {
	c := Comments{Head: key.HeadComment, Line: key.LineComment, Foot: key.FootComment}
	if value.LineComment != "" {
		c.Line = joined(c.Line, value.LineComment)
	}
	c.Head = joined(c.Head, value.HeadComment)
	c.Foot = joined(value.FootComment, c.Foot)
	return c
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// moveAnchorComments moves the comment behind an anchor before its key or item: yaml.v3 gives it to the first value
// below.
func (s *source) moveAnchorComments(parent *yaml.Node) {
	for i, y := range parent.Content {
		owner := y
		if parent.Kind == yaml.MappingNode && i%2 == 1 {
			owner = parent.Content[i-1]
		}
		if y.Anchor != "" && len(y.Content) > 0 && y.Style&yaml.FlowStyle == 0 {
			for _, first := range y.Content[:min(2, len(y.Content))] {
				if c := first.LineComment; c != "" && first.Line > owner.Line && s.endsWith(owner.Line, c) {
					owner.HeadComment, first.LineComment = joined(owner.HeadComment, c), ""
				}
			}
		}
		s.moveAnchorComments(y)
	}
}

// endsWith reports whether a line ends with a text.
func (s *source) endsWith(line int, text string) bool {
	from := s.yamlLine[line-1]
	return bytes.HasSuffix(bytes.TrimSpace(s.src[from:s.lineEnd(from)]), []byte(text))
}

// markEmptyLines adds a line break to the comment of a key or item after an empty line: yaml.v3
// drops empty lines, but writes those in comments.
func (s *source) markEmptyLines(parent *yaml.Node) {
	step := 1
	if parent.Kind == yaml.MappingNode {
		step = 2
	}
	for i, y := range parent.Content {
		s.markEmptyLines(y)
		follows := i >= step && parent.Content[i-step].FootComment == ""
		if i%step == 0 && follows && parent.Style&yaml.FlowStyle == 0 && s.emptyAbove(y.Line-1) {
			y.HeadComment = "\n" + y.HeadComment
		}
	}
}

// emptyAbove reports whether there is an empty line above a line and the comments before it.
func (s *source) emptyAbove(line int) bool {
	for line--; line >= 0 && line < len(s.yamlLine); line-- {
		text := bytes.TrimSpace(s.src[s.yamlLine[line]:s.lineEnd(s.yamlLine[line])])
		if !bytes.HasPrefix(text, []byte("#")) {
			return len(text) == 0
		}
	}
	return false
}

// firstLost returns the line in src of the first comment that out lacks; 0 if it lacks none.
func firstLost(src, out []byte) int {
	kept := map[string]int{}
	for _, c := range commentsOf(out) {
		kept[c.text]++
	}
	for _, c := range commentsOf(src) {
		if kept[c.text]--; kept[c.text] < 0 {
			return newSource(src, "").pos(c.at).Line
		}
	}
	return 0
}

type comment struct {
	at   int
	text string
}

func commentsOf(src []byte) []comment {
	m := &masker{src: src}
	for m.at < len(src) {
		m.line()
	}
	return m.comments
}
