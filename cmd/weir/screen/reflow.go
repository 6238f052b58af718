package screen

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/weir-bench/weir/internal/wrap"
)

// Folder wraps the lines that are written to a terminal, as Reflow does.
type Folder struct {
	to    io.Writer
	width int
	rest  []byte // a line without its end
}

// Folded wraps lines if w is a terminal.
func Folded(w io.Writer) *Folder { return FoldedAt(Text(w), Width(w)) }

// FoldedAt wraps lines at a number of columns; 0: it does not.
func FoldedAt(w io.Writer, columns int) *Folder { return &Folder{to: w, width: columns} }

func (f *Folder) Write(p []byte) (int, error) {
	if f.width <= 0 {
		return f.to.Write(p)
	}
	f.rest = append(f.rest, p...)
	end := bytes.LastIndexByte(f.rest, '\n') + 1
	_, err := io.WriteString(f.to, Reflow(string(f.rest[:end]), f.width))
	f.rest = append(f.rest[:0], f.rest[end:]...)
	return len(p), err
}

// Flush writes an unfinished last line.
func (f *Folder) Flush() error {
	if len(f.rest) == 0 {
		return nil
	}
	_, err := io.WriteString(f.to, reflowed(string(f.rest), f.width, 0))
	f.rest = nil
	return err
}

// Reflow wraps lines at width columns; the rest of a line is indented to its last column. With width 0
// the page does not change.
func Reflow(page string, width int) string {
	if width <= 0 {
		return page
	}
	var b strings.Builder
	for line := range strings.Lines(page) {
		text := strings.TrimSuffix(line, "\n")
		b.WriteString(reflowed(text, width, 0))
		if text != line {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Say writes a message; on a terminal its lines are wrapped, with an indent.
func Say(w io.Writer, message string) {
	width := Width(w)
	if width <= 0 {
		fmt.Fprintln(w, message)
		return
	}
	for line := range strings.SplitSeq(message, "\n") {
		fmt.Fprintln(w, reflowed(line, width, 4))
	}
}

// leftmost is the indent of what has no room in the column that it belongs to.
const leftmost = 8

// reflowed wraps a line. The rest is indented to its last column, or, if it has none, by hang more than the line is. A
// column that leaves less than two fifths of the width is on lines of its own.
func reflowed(line string, width, hang int) string {
	r := []rune(line)
	if len(r) <= width {
		return line
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	column := lastColumn(line)
	if column == indent {
		column += hang
	}
	var b strings.Builder
	switch {
	case indent > max(leftmost, width*2/5):
		return reflowed(strings.Repeat(" ", leftmost)+line[indent:], width, hang)
	case column > max(leftmost, width*3/5) && column < len(r) && column < width:
		b.WriteString(strings.TrimRight(string(r[:column]), " ") + "\n")
		return b.String() + reflowed(strings.Repeat(" ", leftmost)+string(r[column:]), width, hang)
	case column > width*3/5:
		column = indent + 4
	}
	for word := range strings.FieldsSeq(line) { // such as a digest
		if n := len([]rune(word)); column+n > width && n < width {
			column = max(0, min(column, width-n))
		}
	}
	b.WriteString(strings.Repeat(" ", indent))
	at, begun := indent, false
	for _, piece := range pieces(line[indent:]) {
		parts := []string{piece.word}
		switch n := len([]rune(piece.word)); {
		case n > width-column:
			parts = wrap.Word(piece.word, width-at-piece.gap, width-column)
		case begun && at+piece.gap+n > width:
			parts = []string{"", piece.word}
		}
		for i, part := range parts {
			switch {
			case i > 0:
				b.WriteString("\n" + strings.Repeat(" ", column))
				at = column
			case begun && part != "":
				b.WriteString(strings.Repeat(" ", piece.gap))
				at += piece.gap
			}
			b.WriteString(part)
			at += len([]rune(part))
		}
		begun = true
	}
	return b.String()
}

// piece is a word with the spaces before it.
type piece struct {
	gap  int
	word string
}

func pieces(s string) (all []piece) {
	for s != "" {
		rest := strings.TrimLeft(s, " ")
		gap := len(s) - len(rest)
		word, _, _ := strings.Cut(rest, " ")
		if word == "" {
			break
		}
		all = append(all, piece{gap, word})
		s = rest[len(word):]
	}
	return all
}

// lastColumn is the index of the last column of a line; columns are separated by two spaces.
func lastColumn(line string) int {
	at := strings.LastIndex(strings.TrimRight(line, " "), "  ")
	if at < 0 {
		return len(line) - len(strings.TrimLeft(line, " "))
	}
	return len([]rune(line[:at+2]))
}
