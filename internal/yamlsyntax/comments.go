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
