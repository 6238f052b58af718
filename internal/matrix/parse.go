package matrix

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// SyntaxError is an error in a matrix, with its exact characters.
type SyntaxError struct {
	File       string
	Line       int // from 1
	Column     int // from 1, in characters
	Start, End int // byte offsets
	Summary    string
	Detail     string // a sentence
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", e.File, e.Line, e.Column, e.Summary, e.Detail)
}

type problem struct{ summary, detail string }

// longestCell is longer than any size.
const longestCell = 64

// Parse reads a matrix in the published form: a row for each sender, cells in bytes with suffixes K
// M G (1024), separated by white space. It ignores empty lines, and comments after #. ranks is the
// required number; 0: any. An error in the text is a *SyntaxError; other errors are from the
// reader. Memory is proportional to the cells that are not zero.
func Parse(r io.Reader, name string, ranks int) (*Matrix, error) {
	p := &parser{in: bufio.NewReaderSize(r, 1<<16), file: name, line: 1, column: 1, want: ranks, b: newBuilder(0, 0)}
	if err := p.all(); err != nil {
		return nil, err
	}
	return p.b.done(), nil
}

type parser struct {
	in   *bufio.Reader
	file string
	want int

	at, line, column int // of the next byte
	comment          bool
	b                *builder
	rows             int // complete rows
	width            int // cells of the first row
	cells            int // cells of the current row
	lastEnd          place
	rowStart         place

	cell  [longestCell]byte
	n     int // bytes of the current cell
	start place
}

type place struct{ at, line, column int }

func (p *parser) here() place { return place{p.at, p.line, p.column} }

func (p *parser) fail(from, to place, summary, format string, args ...any) error {
	return &SyntaxError{
		File: p.file, Line: from.line, Column: from.column, Start: from.at, End: max(to.at, from.at), Summary: summary,
		Detail: fmt.Sprintf(format, args...),
	}
}

func (p *parser) all() error {
	for {
		if _, err := p.in.Peek(1); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading %s: %w", p.file, err)
		}
		chunk, err := p.in.Peek(p.in.Buffered())
		if err == nil {
			err = p.chunk(chunk)
		}
		if err == nil {
			_, err = p.in.Discard(len(chunk))
		}
		if err != nil {
			return err
		}
	}
	if err := p.endRow(); err != nil {
		return err
	}
	return p.endMatrix()
}

func (p *parser) chunk(chunk []byte) error {
	for i := 0; i < len(chunk); i++ {
		if chunk[i] == '0' {
			if i += p.zeros(chunk[i:]); i == len(chunk) {
				return nil
			}
		}
		if err := p.byte(chunk[i]); err != nil {
			return err
		}
	}
	return nil
}

// zeros skips cells of `0 0 0 …`, most of a large matrix, and returns their bytes. It stops at
// everything else.
func (p *parser) zeros(text []byte) int {
	if p.n > 0 || p.comment || p.cells == 0 || p.rows == 0 || p.rows >= p.width {
		return 0
	}
	pairs := 0
	for most := min(p.width-p.cells, len(text)/2); pairs < most && text[2*pairs] == '0' && text[2*pairs+1] == ' '; {
		pairs++
	}
	if pairs > 0 {
		p.cells += pairs
		p.at, p.column = p.at+2*pairs, p.column+2*pairs
		p.lastEnd = place{p.at - 1, p.line, p.column - 1}
	}
	return 2 * pairs
}

func (p *parser) byte(c byte) error {
	var err error
	switch {
	case c == '\n':
		err = p.endRow()
		p.comment = false
		p.at, p.line, p.column = p.at+1, p.line+1, 1
		return err
	case p.comment:
	case c == '#':
		err, p.comment = p.endCell(), true
	case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
		err = p.endCell()
	default:
		err = p.grow(c)
	}
	p.at++
	if c&0xC0 != 0x80 { // not inside of a multi-byte character
		p.column++
	}
	return err
}

func (p *parser) grow(c byte) error {
	if p.n == 0 {
		p.start = p.here()
	}
	if p.n == longestCell {
		return p.fail(p.start, p.here(), "Not a size", "The cell goes on for more than %d characters.", longestCell)
	}
	p.cell[p.n] = c
	p.n++
	return nil
}

func (p *parser) endCell() error {
	if p.n == 0 {
		return nil
	}
	bytes, wrong := parseCell(p.cell[:p.n])
	p.n = 0
	switch {
	case wrong != nil:
		return p.fail(p.start, p.here(), wrong.summary, "%s", wrong.detail)
	case p.rows > 0 && p.cells == p.width:
		return p.fail(p.start, p.here(), "Not a square",
			"Row %d has more than the %d cells of the first row: every row has one cell for each receiver.",
			p.rows+1, p.width)
	case p.cells == MaxRanks:
		return p.fail(p.start, p.here(), "Too many ranks", "A matrix has at most %d ranks.", MaxRanks)
	case p.want > 0 && p.cells == p.want:
		return p.fail(p.start, p.here(), "Wrong number of ranks",
			"The matrix has more than %d columns, but there are %d ranks.", p.want, p.want)
	case p.rows > 0 && p.rows == p.width:
		return p.fail(p.start, p.here(), "Not a square",
			"This is row %d of a matrix of %d columns: a matrix is square.",
			p.rows+1, p.width)
	}
	if p.cells == 0 {
		p.rowStart = p.start
	}
	if err := p.b.add(p.rows, p.cells, bytes); err != nil {
		return p.fail(p.start, p.here(), "Too much traffic", "With this cell %s.", err)
	}
	p.cells++
	p.lastEnd = p.here()
	return nil
}

// endRow ends a line, which is a row if it has cells.
func (p *parser) endRow() error {
	if err := p.endCell(); err != nil || p.cells == 0 {
		return err
	}
	switch {
	case p.rows == 0:
		p.width, p.b.m.ranks = p.cells, p.cells
		if p.want > 0 && p.cells != p.want {
			return p.fail(p.rowStart, p.lastEnd, "Wrong number of ranks",
				"The matrix has %d columns, but there are %d ranks.", p.cells, p.want)
		}
	case p.cells < p.width:
		return p.fail(p.rowStart, p.lastEnd, "Not a square",
			"Row %d has %d cells, but the first row has %d: every row has one cell for each receiver.",
			p.rows+1, p.cells,
			p.width)
	}
	p.rows++
	p.cells = 0
	return nil
}

func (p *parser) endMatrix() error {
	switch {
	case p.rows == 0:
		return p.fail(place{0, 1, 1}, place{0, 1, 1}, "Empty matrix",
			"The file has no cells: write a row for each sender, with the bytes for each receiver.")
	case p.rows < p.width:
		return p.fail(p.rowStart, p.lastEnd, "Not a square",
			"The matrix ends after %d rows of %d cells: a matrix is square. Write rows of zeros for ranks that send nothing.",
			p.rows, p.width)
	}
	return nil
}
