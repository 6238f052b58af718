package importer

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// continuedComment matches what may be a comment with a backslash at its end.
var continuedComment = lazyregexp.New(`#[^\n]*\\\r?\n`)

// parse returns the commands of a text. A comment ends with its line, as in a shell: the parser goes on after one with
// a backslash at its end, so these are removed first.
func parse(text string) (*syntax.File, error) {
	for again := continuedComment().MatchString(text); again; {
		again = false
		parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
		f, _ := parser.Parse(strings.NewReader(text), "")
		syntax.Walk(f, func(n syntax.Node) bool {
			c, ok := n.(*syntax.Comment)
			if !ok {
				return true
			}
			from := int(c.Hash.Offset())
			comment, _, _ := strings.Cut(text[from:], "\n")
			if end := from + len(strings.TrimSuffix(comment, "\r")) - 1; text[end] == '\\' {
				text, again = text[:end]+" "+text[end+1:], true
			}
			return true
		})
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}
