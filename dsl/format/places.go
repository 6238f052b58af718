package format

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// places knows where the lines of a source begin.
type places struct {
	src      []byte
	filename string
	lines    []int // the offset of each line's first byte
}

func newPlaces(src []byte, filename string) *places {
	p := &places{src: src, filename: filename, lines: []int{0}}
	for i, c := range src {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	return p
}

// line is the index of the line of an offset.
func (p *places) line(at int) int { return sort.SearchInts(p.lines, at+1) - 1 }

// columnOf is how many bytes stand before an offset on its line.
func (p *places) columnOf(at int) int { return at - p.lines[p.line(at)] }

// emptyBefore says whether the line before that of an offset is empty.
func (p *places) emptyBefore(at int) bool {
	n := p.line(at)
	return n > 0 && len(bytes.TrimSpace(p.src[p.lines[n-1]:p.lines[n]])) == 0
}

// beginsLine says whether nothing but dashes stands before an offset on its line.
func (p *places) beginsLine(at int) bool {
	return len(bytes.Trim(p.src[p.lines[p.line(at)]:at], " \t-?")) == 0
}

// span is the place of a stretch of bytes. Columns of lines beyond reason are
// not counted in characters: nobody looks there, and it would take long.
func (p *places) span(from, to int) hcl.Range {
	pos := func(at int) hcl.Pos {
		n := p.line(at)
		column := at - p.lines[n]
		if column < 1000 {
			column = utf8.RuneCount(p.src[p.lines[n]:at])
		}
		return hcl.Pos{Line: n + 1, Column: column + 1, Byte: at}
	}
	return hcl.Range{Filename: p.filename, Start: pos(from), End: pos(to)}
}
