package format

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// hclComments are the comments of a file: those on separate lines by the byte of the next token,
// others by line. A line break represents an empty line.
type hclComments struct {
	before map[int]string
	beside map[int]string
}

func readComments(src []byte) hclComments {
	c := hclComments{before: map[int]string{}, beside: map[int]string{}}
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	head := ""
	line, last := 0, 0 // of the last token that is not a comment, and of the last token
	for _, t := range tokens {
		text := string(t.Bytes)
		if t.Type == hclsyntax.TokenNewline {
			continue
		}
		if last > 0 && t.Range.Start.Line > last+1 && !strings.HasSuffix(head, "\n\n") {
			head += "\n"
		}
		last = t.Range.Start.Line + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
		switch {
		case t.Type != hclsyntax.TokenComment:
			c.before[t.Range.Start.Byte] = head
			head, line = "", last
		case t.Range.Start.Line == line:
			c.beside[line] = hashed(text)
		default:
			head += hashed(text) + "\n"
		}
	}
	return c
}

// of takes the comments before and beside a range.
func (c hclComments) of(at hcl.Range, first bool) yamlsyntax.Comments {
	all := yamlsyntax.Comments{Head: c.head(at.Start.Byte, first), Line: c.line(at.Start.Line)}
	if end := c.line(at.End.Line); all.Line == "" {
		all.Line = end
	} else {
		all.Foot = end
	}
	return all
}

// head takes the comments on the lines before a byte.
func (c hclComments) head(at int, first bool) string {
	head := c.before[at]
	if first {
		head = strings.TrimPrefix(head, "\n")
	}
	if head != "\n" {
		head = strings.TrimRight(head, "\n")
	}
	return head
}

// foot takes the comments before a closing bracket.
func (c hclComments) foot(at int) string { return strings.Trim(c.before[at], "\n") }

// line takes the comment at the end of a line.
func (c hclComments) line(n int) string {
	text := c.beside[n]
	delete(c.beside, n)
	return text
}

func joined(a, b string) string { return strings.Trim(a+"\n"+b, "\n") }

// hashed converts a comment to # form, which both syntaxes have.
func hashed(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if rest, ok := strings.CutPrefix(text, "//"); ok {
		return "#" + strings.TrimRight(rest, " \t\r\n")
	}
	if !strings.HasPrefix(text, "/*") {
		return strings.TrimRight(text, " \t\r\n")
	}
	var out []string
	for l := range strings.Lines(strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/")) {
		if l = strings.Trim(l, " \t\r\n*"); l != "" {
			out = append(out, "# "+l)
		}
	}
	return strings.Join(out, "\n")
}
