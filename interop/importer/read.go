package importer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// reading is what read does with a line.
type reading struct {
	names   []string
	array   bool // the words become an array
	raw     bool // a backslash is a text
	whole   bool // all lines are one: -d ''
	between string
}

const blanks = " \t\n"

// readOf returns what a command does that is read with known flags.
func (v variables) readOf(n *syntax.CallExpr) (r reading, ok bool) {
	if len(n.Args) < 2 || n.Args[0].Lit() != "read" {
		return r, false
	}
	r.between, ok = blanks, true
	if ifs, set := v["IFS"]; set {
		r.between, ok = ifs.Str, ifs.Set
	}
	for _, a := range n.Assigns {
		if a.Name == nil || a.Name.Value != "IFS" {
			return r, false
		}
		r.between, ok = v.value(a.Value)
	}
	for i, w := range n.Args[1:] {
		switch name := w.Lit(); {
		case name == "-d" && i+2 < len(n.Args):
			end, known := v.value(n.Args[i+2])
			r.whole, ok = true, ok && known && end == ""
		case r.whole && n.Args[i].Lit() == "-d":
		case syntax.ValidName(name):
			r.names = append(r.names, name)
		case r.names == nil && slices.Contains([]string{"-r", "-a", "-ra", "-ar"}, name):
			r.raw, r.array = r.raw || name != "-a", r.array || name != "-r"
		default:
			return r, false
		}
	}
	return r, ok && r.names != nil && (!r.array || len(r.names) == 1)
}

// set gives the variables their values of a line.
func (r reading) set(v variables, line string, assumed bool) {
	if r.array {
		v.setList(r.names[0], splitRow(line, r.between, mostItems))
		v.assume(r.names[0], assumed)
		return
	}
	values := splitRow(line, r.between, len(r.names))
	for i, name := range r.names {
		value := ""
		if i < len(values) {
			value = values[i]
		}
		v.set(name, value, true)
		v.assume(name, assumed)
	}
}

// splitRow divides a line into at most some values as read does: the last is the rest. Blanks next to each other are
// one separator, others separate by themselves.
func splitRow(line, between string, most int) (values []string) {
	blank := strings.Map(func(r rune) rune {
		if strings.ContainsRune(blanks, r) {
			return r
		}
		return -1
	}, between)
	line = strings.Trim(line, blank)
	for line != "" {
		at := -1
		if between != "" {
			at = strings.IndexAny(line, between)
		}
		if at < 0 {
			return append(values, line)
		}
		separator, size := utf8.DecodeRuneInString(line[at:])
		rest := strings.TrimLeft(line[at+size:], blank)
		next, size := utf8.DecodeRuneInString(rest)
		if strings.ContainsRune(blank, separator) && size > 0 && strings.ContainsRune(between, next) {
			rest = strings.TrimLeft(rest[size:], blank)
		}
		if len(values) == most-1 && rest != "" {
			return append(values, line)
		}
		values, line = append(values, line[:at]), rest
	}
	return values
}

// givenTo returns the text that a command itself reads.
func (s *script) givenTo(n *syntax.CallExpr) (text string, known, assumed bool) {
	if stmt := s.stmtOf[n]; stmt != nil {
		return s.given(stmt)
	}
	return "", false, false
}

// readLine reads the first line of a known text by read. It is not done if text or flags are not known.
func (s *script) readLine(n *syntax.CallExpr) (done bool) {
	r, ok := s.known.readOf(n)
	text, known, assumed := s.givenTo(n)
	if !ok || !known || !r.raw && strings.Contains(text, `\`) {
		return false
	}
	line, _, _ := strings.Cut(text, "\n")
	if r.whole {
		line = text
	}
	r.set(s.known, line, assumed)
	return true
}

// readLines reads the lines of a known text into an array, by mapfile -t.
func (s *script) readLines(n *syntax.CallExpr) (done bool) {
	text, known, assumed := s.givenTo(n)
	if !known || len(n.Args) != 3 || n.Args[0].Lit() == "read" || n.Args[1].Lit() != "-t" {
		return false
	}
	name, lines := n.Args[2].Lit(), linesOf(text)
	if !syntax.ValidName(name) || len(lines) > mostItems {
		return false
	}
	s.known.setList(name, lines)
	s.known.assume(name, assumed)
	return true
}

// printInto sets a variable to what printf -v prints.
func (s *script) printInto(n *syntax.CallExpr) (done bool) {
	if len(n.Args) < 4 || n.Args[0].Lit() != "printf" || n.Args[1].Lit() != "-v" || !syntax.ValidName(n.Args[2].Lit()) {
		return false
	}
	words, ok := s.known.allFields(n.Args[3:])
	text, known := formatted(words)
	if !ok || !known {
		return false
	}
	s.known.set(n.Args[2].Lit(), text, true)
	s.known.assume(n.Args[2].Lit(), s.known.assumes(n))
	return true
}
