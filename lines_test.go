package weir_test

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// How many columns a line may have, of which a tab is tabColumns.
const (
	goColumns  = 120
	cColumns   = 100
	tabColumns = 4
)

// endsWithText is a line of C that ends with a string literal.
var endsWithText = regexp.MustCompile(`^(.*?)"(?:[^"\\]|\\.)*"[)\]};, ]*\\?$`)

// A line of Go may be longer if it ends with a string literal that begins in its first
// half: a text that is cut is found by nobody. Lines within a literal are text.
func TestLinesOfGoAreNotLong(t *testing.T) {
	for _, path := range tracked(t, "*.go") {
		src := read(t, path)
		if strings.Contains(path, "testdata/") || bytes.Contains(src, []byte("// Code generated ")) {
			continue
		}
		for _, line := range longLines(src) {
			t.Errorf("%s:%d: more than %d columns", path, line, goColumns)
		}
	}
}

// So are lines of C, which .clang-format breaks.
func TestLinesOfCAreNotLong(t *testing.T) {
	for _, path := range tracked(t, "*.c", "*.h") {
		for i, line := range bytes.Split(read(t, path), []byte("\n")) {
			if columns(line) <= cColumns {
				continue
			}
			if m := endsWithText.FindSubmatch(line); m == nil || columns(m[1]) >= cColumns/2 {
				t.Errorf("%s:%d: more than %d columns", path, i+1, cColumns)
			}
		}
	}
}

func TestALineThatEndsWithATextMayBeLong(t *testing.T) {
	text := strings.Repeat("x", goColumns)
	for line, long := range map[string]bool{
		"short()":                              false,
		"f(" + text + ")":                      true,
		`f("` + text + `")`:                    false,
		`f(x, "` + text + `", "y"})},`:         true,
		`f(x, "` + text + `")},`:               false,
		`f("` + text + `" + x)`:                true,
		`f("` + text + `" +`:                   false,
		"T string `json:\"" + text + "\"`":     false,
		"f(" + text[:60] + `, "` + text + `")`: true,
		"f() // " + text:                       true,
		"// " + text:                           true,
		"var s = `\n" + text + "\n`":           false,
		"var s = `\n`\nf(" + text + ")":        true,
		"var s = `\n` + \"" + text + "\" + x":  false,
		strings.Repeat("\t", 30) + "f()":       true,
		"f(`" + strings.Repeat("é", 110) + "`": false,
		"f(" + strings.Repeat("é", 110) + ")":  false,
	} {
		if got := longLines([]byte(line)); (len(got) > 0) != long {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// tracked are the files of a pattern that git knows, as far as they are there.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"ls-files", "--"}, patterns...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, path := range strings.Fields(string(out)) {
		if _, err := os.Stat(path); err == nil { // else it is removed, and not committed yet
			all = append(all, path)
		}
	}
	if len(all) == 0 {
		t.Fatalf("there are no files %v", patterns)
	}
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// columns are how many of a screen a text takes.
func columns(text []byte) int {
	return utf8.RuneCount(text) + (tabColumns-1)*bytes.Count(text, []byte("\t"))
}

// longLines are the numbers of the lines that are too long.
func longLines(src []byte) (long []int) {
	free := freeLines(src)
	for i, line := range bytes.Split(src, []byte("\n")) {
		if columns(line) > goColumns && !free[i+1] {
			long = append(long, i+1)
		}
	}
	return long
}

// freeLines are the numbers of lines that may have any length.
func freeLines(src []byte) map[int]bool {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
	free := map[int]bool{}
	text := 0   // the line that ends with a text, as far as it was read
	within := 0 // the line that began within a text
	for {
		pos, tok, literal := s.Scan()
		at := file.Position(pos)
		switch tok {
		case token.EOF:
			return free
		case token.STRING:
			for i := range strings.Count(literal, "\n") {
				free[at.Line+i+1] = true
				within = at.Line + i + 1
			}
			if at.Line == text && text != within {
				delete(free, text)
			}
			begin := file.Offset(pos)
			text = 0
			if columns(src[bytes.LastIndexByte(src[:begin], '\n')+1:begin]) < goColumns/2 {
				text = at.Line
				free[text] = true
			}
		case token.RPAREN, token.RBRACE, token.RBRACK, token.LBRACE, token.COMMA, token.SEMICOLON,
			token.COLON, token.ADD:
		default:
			if at.Line == text && text != within {
				delete(free, text)
				text = 0
			}
		}
	}
}
