package screen

import (
	"bytes"
	"io"
	"strings"
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
	_, err := io.WriteString(f.to, reflowed(string(f.rest), f.width))
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
		b.WriteString(reflowed(text, width))
		if text != line {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func reflowed(line string, width int) string {
	r := []rune(line)
	if len(r) <= width {
		return line
	}
	column := lastColumn(line)
	if column > width*3/5 {
		column = len(line) - len(strings.TrimLeft(line, " ")) + 4
	}
	var b strings.Builder
	indent := len(line) - len(strings.TrimLeft(line, " "))
	b.WriteString(strings.Repeat(" ", indent))
	at, begun := indent, false
	for _, piece := range pieces(line[indent:]) {
		n := len([]rune(piece.word))
		switch {
		case begun && at+piece.gap+n > width:
			b.WriteString("\n" + strings.Repeat(" ", column))
			at = column
		case begun:
			b.WriteString(strings.Repeat(" ", piece.gap))
			at += piece.gap
		}
		b.WriteString(piece.word)
		at, begun = at+n, true
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
