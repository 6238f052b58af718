package docs

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// item is the beginning of an entry of a list, with what it is indented by.
var item = regexp.MustCompile(`^\s*([-*+]|\d+\.) +`)

// Wrap breaks paragraphs and lists of Markdown at a number of columns. Code and tables stay as they are.
// Links become what a reader of a terminal can use.
func Wrap(text string, width int) string { return wrap(text, width, unlinked) }

// Fill is Wrap for a page that stays Markdown: links are kept.
func Fill(text string, width int) string {
	return wrap(text, width, func(links string) string { return links })
}

func wrap(text string, width int, links func(string) string) string {
	w := wrapper{width: width, links: links}
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
	words  []string // of the paragraph that is being read
	first  string   // what stands before its first line
	hang   string   // what stands before each further line
	fence  string   // closes the block of code that is being read
	indent bool     // the line before was indented code, or could precede it
}

func (w *wrapper) line(line string) {
	bare := strings.TrimSpace(line)
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

// flush writes the paragraph that was read.
func (w *wrapper) flush() {
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
