package docs

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// item is the beginning of an entry of a list, with what it is indented by.
var item = regexp.MustCompile(`^\s*([-*+]|\d+\.) +`)

// Wrap writes a page of Markdown for a terminal. It breaks paragraphs and lists at a number of columns. Links become
// what a reader of a terminal can use, and tables have columns. Code stays as it is.
func Wrap(text string, width int) string {
	return wrap(text, wrapper{width: width, links: unlinked, tables: true})
}

// Fill is Wrap for a page that stays Markdown: links and tables are kept.
func Fill(text string, width int) string {
	return wrap(text, wrapper{width: width, links: func(links string) string { return links }})
}

func wrap(text string, w wrapper) string {
	for line := range strings.Lines(text) {
		w.line(strings.TrimRight(line, "\n"))
	}
	w.flush()
	return w.to.String()
}

type wrapper struct {
	to     strings.Builder
	width  int
	links  func(string) string
	tables bool     // become columns
	rows   []string // of the table that is being read
	words  []string // of the paragraph that is being read
	first  string   // what stands before its first line
	hang   string   // what stands before each further line
	fence  string   // closes the block of code that is being read
	indent bool     // the line before was indented code, or could precede it
}

func (w *wrapper) line(line string) {
	bare := strings.TrimSpace(line)
	if len(w.rows) > 0 && !strings.HasPrefix(bare, "|") {
		w.flush()
	}
	switch {
	case w.fence != "":
		w.put(line)
		if bare == w.fence {
			w.fence = ""
		}
	case strings.HasPrefix(bare, "```"):
		w.flush()
		w.fence = "```"
		w.put(line)
	case bare == "":
		w.flush()
		w.put("")
		w.indent = w.hang == ""
	case strings.HasPrefix(line, "    ") && len(w.words) == 0 && w.indent:
		w.put(line)
	case w.tables && w.fence == "" && strings.HasPrefix(bare, "|"):
		if len(w.rows) == 0 {
			w.flush()
		}
		w.rows = append(w.rows, bare)
		w.hang, w.indent = "", true
	case strings.HasPrefix(bare, "|"), strings.HasPrefix(bare, "#"), strings.HasPrefix(bare, "<"):
		w.flush()
		w.hang, w.indent = "", true
		w.put(w.links(line))
	default:
		w.text(line)
	}
}

// text adds a line to its paragraph, or begins one.
func (w *wrapper) text(line string) {
	if mark := item.FindString(line); mark != "" {
		w.flush()
		w.first, w.hang = mark, strings.Repeat(" ", utf8.RuneCountInString(mark))
		line = line[len(mark):]
	} else if len(w.words) == 0 {
		lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
		w.first, w.hang = lead, lead
	}
	w.words = append(w.words, line)
	w.indent = false
}

// flush writes the paragraph or table that was read.
func (w *wrapper) flush() {
	if rows := w.rows; len(rows) > 0 {
		w.rows = nil
		w.table(rows)
		w.hang = ""
		return
	}
	if len(w.words) == 0 {
		return
	}
	line, at := w.first, utf8.RuneCountInString(w.first)
	begun := false
	for _, word := range strings.Fields(whole(w.links(strings.Join(w.words, " ")))) {
		n := utf8.RuneCountInString(word)
		if begun && at+1+n > w.width {
			w.put(line)
			line, at, begun = w.hang, len(w.hang), false
		}
		if begun {
			line, at = line+" ", at+1
		}
		line, at, begun = line+word, at+n, true
	}
	w.put(line)
	w.words = nil
}

var code = regexp.MustCompile("`[^`]+`")

// longestWhole is the length up to which code is not broken, so that it can be copied.
const longestWhole = 60

// whole keeps short pieces of code on one line.
func whole(text string) string {
	return code.ReplaceAllStringFunc(text, func(piece string) string {
		if utf8.RuneCountInString(piece) > longestWhole {
			return piece
		}
		return strings.Join(strings.Fields(piece), unbroken)
	})
}

func (w *wrapper) put(line string) {
	w.to.WriteString(strings.ReplaceAll(line, unbroken, " ") + "\n")
}
