package yamlsyntax

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// source converts the line and character of a node in yaml.v3 to byte offsets, and finds the ends
// of scalars, which yaml.v3 does not report.
type source struct {
	src      []byte
	filename string
	yamlLine []int // byte offsets of lines as YAML counts them
	textLine []int // byte offsets of lines as editors and hcl count them
	// characters before each stride of bytes, so that a long line is counted only once
	chars []int
}

const stride = 256

var bom = []byte{0xEF, 0xBB, 0xBF}

func newSource(src []byte, filename string) *source {
	first := 0
	if bytes.HasPrefix(src, bom) {
		first = len(bom)
	}
	s := &source{src: src, filename: filename, yamlLine: []int{first}, textLine: []int{first}}
	for i := first; i < len(src); {
		n := breakLen(src[i:])
		if n == 0 {
			i++
			continue
		}
		i += n
		s.yamlLine = append(s.yamlLine, i)
		if src[i-1] == '\n' {
			s.textLine = append(s.textLine, i)
		}
	}
	count := 0
	for i, c := range src {
		if i%stride == 0 {
			s.chars = append(s.chars, count)
		}
		if utf8.RuneStart(c) {
			count++
		}
	}
	return s
}

// charsBefore returns the number of characters before a byte.
func (s *source) charsBefore(at int) int {
	if len(s.chars) == 0 {
		return 0
	}
	block := min(at/stride, len(s.chars)-1)
	n := s.chars[block]
	for _, c := range s.src[block*stride : at] {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// breakLen returns the length of the line break at the start of b, 0 if there is none. YAML also
// breaks lines at a single CR, NEL, LS and PS.
func breakLen(b []byte) int {
	switch {
	case b[0] == '\n':
		return 1
	case b[0] == '\r' && len(b) > 1 && b[1] == '\n':
		return 2
	case b[0] == '\r':
		return 1
	case len(b) > 1 && b[0] == 0xC2 && b[1] == 0x85:
		return 2
	case len(b) > 2 && b[0] == 0xE2 && b[1] == 0x80 && (b[2] == 0xA8 || b[2] == 0xA9):
		return 3
	}
	return 0
}

// offset returns the byte at a line and character of yaml.v3, both from 1.
func (s *source) offset(line, column int) int {
	if line < 1 || line > len(s.yamlLine) {
		return len(s.src)
	}
	at := s.yamlLine[line-1]
	if column <= 1 || at >= len(s.src) {
		return at
	}
	target := s.charsBefore(at) + column - 1
	if block := sort.SearchInts(s.chars, target+1) - 1; block*stride > at {
		at = block * stride
		for at < len(s.src) && !utf8.RuneStart(s.src[at]) {
			at++
		}
	}
	for n := s.charsBefore(at); n < target && at < len(s.src); n++ {
		_, size := utf8.DecodeRune(s.src[at:])
		at += size
	}
	return at
}

// pos returns the position of a byte, with columns counted in characters.
func (s *source) pos(at int) hcl.Pos {
	line := sort.SearchInts(s.textLine, at+1) // lines that begin at or before it
	if line == 0 {
		return hcl.Pos{Line: 1, Column: 1, Byte: at}
	}
	return hcl.Pos{Line: line, Column: s.charsBefore(at) - s.charsBefore(s.textLine[line-1]) + 1, Byte: at}
}

func (s *source) span(from, to int) hcl.Range {
	return hcl.Range{Filename: s.filename, Start: s.pos(from), End: s.pos(to)}
}

func (s *source) lineEnd(at int) int {
	for at < len(s.src) && breakLen(s.src[at:]) == 0 {
		at++
	}
	return at
}

// skipProperties skips the anchor and tag before a node, which yaml.v3 counts as part of it.
func (s *source) skipProperties(at int) int {
	for at < len(s.src) && (s.src[at] == '&' || s.src[at] == '!') {
		for at < len(s.src) && !isSpace(s.src[at]) {
			at++
		}
		at = s.skipBlank(at)
	}
	return at
}

// skipBlank skips white space, line breaks and comments.
func (s *source) skipBlank(at int) int {
	for at < len(s.src) {
		switch c := s.src[at]; {
		case isSpace(c):
			at++
		case c == '#':
			at = s.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// endOfPlain finds the end of an unquoted scalar. If it spans several lines, it was folded, so the
// text is compared character by character.
func (s *source) endOfPlain(at int, value string) (end int, verbatim bool) {
	if bytes.HasPrefix(s.src[at:], []byte(value)) {
		return at + len(value), true
	}
	for _, word := range strings.Fields(value) {
		at = s.skipBlank(at)
		if !bytes.HasPrefix(s.src[at:], []byte(word)) {
			break
		}
		at += len(word)
	}
	return at, false
}

// endOfQuoted finds the character after the closing quote.
func (s *source) endOfQuoted(at int) int {
	quote := s.src[at]
	for at++; at < len(s.src); at++ {
		switch {
		case s.src[at] == '\\' && quote == '"':
			at++
		case s.src[at] == quote && quote == '\'' && at+1 < len(s.src) && s.src[at+1] == '\'':
			at++
		case s.src[at] == quote:
			return at + 1
		}
	}
	return len(s.src)
}

func (s *source) diag(rng hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &rng}
}

func (s *source) errorAt(from, to int, summary, detail string) *hcl.Diagnostic {
	return s.diag(s.span(from, to), summary, detail)
}
