package yamlsyntax

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// fitsBlock reports whether a text can be a block scalar in any context.
func fitsBlock(text string) bool {
	lines := strings.TrimSuffix(text, "\n")
	return lines != "" && strings.Trim(lines, " \t\n") == lines && !strings.Contains(lines, " \n") &&
		!strings.ContainsFunc(strings.ReplaceAll(lines, "\n", ""), NeedsEscape)
}

// Marks in comments, for layouts that yaml.v3 cannot write: two spaces before a comment, and folded
// texts with line breaks, which are written as literal texts with a mark at their header.
const (
	besideMark  = "#\uE080"
	foldedMark  = "#\uE081"
	foldedWidth = 90
)

var (
	foldedHeader  = regexp.MustCompile(`\|([-+]?) ` + foldedMark + `( ?)`)
	spacesAlone   = regexp.MustCompile(`(?m)^ +$`) // lines without a scalar
	lineBreaks    = regexp.MustCompile(`\n+`)
	indentedLines = regexp.MustCompile(`(?m)^[ \t]`)
)

// marked reports whether a document contains the marks already.
func marked(y *yaml.Node) bool {
	texts := y.Value + "\n" + y.HeadComment + "\n" + y.LineComment + "\n" + y.FootComment
	return strings.Contains(texts, besideMark) || strings.Contains(texts, foldedMark) ||
		slices.ContainsFunc(y.Content, marked)
}

// markAll sets the marks.
func markAll(y *yaml.Node) {
	if y.LineComment != "" {
		y.LineComment = besideMark + y.LineComment
	}
	if y.Style == yaml.FoldedStyle {
		fold(y)
	}
	for _, c := range y.Content {
		markAll(c)
	}
}

// unmarked replaces the marks.
func unmarked(out []byte) []byte {
	out = foldedHeader.ReplaceAll(spacesAlone.ReplaceAll(out, nil), []byte(">$1$2"))
	return bytes.ReplaceAll(out, []byte(" "+besideMark), []byte("  "))
}

// fold breaks a folded text into lines of foldedWidth, or makes it a literal one.
func fold(y *yaml.Node) {
	y.Style = yaml.LiteralStyle
	if indentedLines.MatchString(y.Value) || strings.Contains(y.Value, "  ") {
		return
	}
	y.LineComment = strings.TrimSpace(foldedMark + " " + y.LineComment)
	text := strings.TrimRight(y.Value, "\n")
	end := y.Value[len(text):]
	var b strings.Builder
	for line := range strings.SplitSeq(lineBreaks.ReplaceAllString(text, "$0\n"), "\n") {
		for len(line) > foldedWidth && strings.Contains(line[:foldedWidth], " ") {
			at := strings.LastIndexByte(line[:foldedWidth], ' ')
			b.WriteString(line[:at] + "\n")
			line = line[at+1:]
		}
		b.WriteString(line + "\n")
	}
	y.Value = strings.TrimSuffix(b.String(), "\n") + end
}
