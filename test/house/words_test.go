package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// relative are the pronouns of relative clauses, which are seldom needed: "whoever reads" is a reader.
var relative = regexp.MustCompile(`(?i)\b(who|whom|whose|whoever|whosoever)\b`)

// mostRelative is how many lines of Go and C may have one.
const mostRelative = 60

// dialect are words that weir used in a sense of its own, with the field's terms for them.
var dialect = map[string]string{
	`so many`:           "a number, or: this many",
	`so much`:           "an amount, or: this much",
	`in vain`:           "without success",
	`aside`:             "apart from, or: a note",
	`anybody`:           "the actor",
	`blam(e[sd]?|ing)`:  "attribution, cause",
	`bur(y|ies|ied)`:    "delete",
	`court`:             "evaluator",
	`dismiss\w*`:        "deregister",
	`equip\w*`:          "assign",
	`facets?`:           "column",
	`forsaken`:          "cancelled",
	`frugal\w*`:         "limitMemory",
	`garble[sd]?`:       "mutate",
	`guilt\w*`:          "straggler",
	`heard`:             "observed, reported",
	`hush`:              "closeWrite",
	`lossy`:             "a link that loses packets",
	`mishaps?`:          "warnings",
	`owed`:              "pending",
	`pace`:              "timeouts",
	`pulse`:             "suspendDetector",
	`regain\w*`:         "reacquire",
	`spanning`:          "multiCase",
	`successors?`:       "takeOver",
	`suffer(s|ed|ing)?`: "inject",
	`suspects?`:         "cause",
	`unfit`:             "incomparable, skipped",
	`untidy`:            "leftovers",
	`untold`:            "unreported",
	`weightier`:         "takesPrecedence",
	`witness(es|ed)?`:   "log, checkOutput",
	`wordTime`:          "notifyTimeout",
}

// The comment of a declaration begins with its name and ends as a sentence does.
func TestCommentsBeginWithTheNameAndEndAsSentences(t *testing.T) {
	for _, path := range tracked(t, "*.go") {
		source := string(read(t, path))
		if strings.Contains(source, "\n// Code generated") || strings.HasPrefix(source, "// Code generated") ||
			strings.Contains(path, "testdata/") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		check := func(doc *ast.CommentGroup, names ...string) {
			text := doc.Text() // without directives
			if text == "" {
				return
			}
			at := files.Position(doc.Pos())
			if len(names) == 1 && !beginsWith(text, names[0]) && !strings.HasSuffix(path, "_test.go") {
				t.Errorf("%s: the comment of %s does not begin with its name", at, names[0])
			}
			text = strings.TrimSpace(text)
			if lines := strings.Split(text, "\n"); strings.HasPrefix(lines[len(lines)-1], "\t") {
				return // a formula or an example
			}
			if !strings.HasSuffix(strings.TrimRight(text, `)"”`), ".") && !strings.HasSuffix(text, "?") &&
				!strings.HasSuffix(text, ":") {
				t.Errorf("%s: the comment does not end with a full stop", at)
			}
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(d.Doc, d.Name.Name)
			case *ast.GenDecl:
				if d.Tok == token.IMPORT { // the preamble of cgo
					continue
				}
				if d.Lparen.IsValid() {
					check(d.Doc)
				}
				for _, s := range d.Specs {
					doc, names := specOf(s)
					if doc == nil && !d.Lparen.IsValid() {
						doc = d.Doc
					}
					check(doc, names...)
				}
			}
		}
	}
}

func specOf(s ast.Spec) (doc *ast.CommentGroup, names []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Doc, []string{s.Name.Name}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
		return s.Doc, names
	}
	return nil, nil
}

func beginsWith(text, name string) bool {
	for _, article := range []string{"", "A ", "An ", "The "} {
		if rest, ok := strings.CutPrefix(text, article+name); ok && !regexp.MustCompile(`^\w`).MatchString(rest) {
			return true
		}
	}
	return strings.HasPrefix(text, "Deprecated:")
}

func TestPronounsOfRelativeClausesAreRare(t *testing.T) {
	var lines []string
	for _, path := range tracked(t, "*.go", "*.c", "*.h", "*.cu") {
		if strings.Contains(path, "testdata/") || path == "test/house/words_test.go" {
			continue
		}
		for i, line := range strings.Split(string(read(t, path)), "\n") {
			if relative.MatchString(line) {
				lines = append(lines, position(path, i)+strings.TrimSpace(line))
			}
		}
	}
	if len(lines) > mostRelative {
		t.Errorf("%d lines have who, whom, whose or whoever, of at most %d:\n%s", len(lines), mostRelative,
			strings.Join(lines, "\n"))
	}
}

func TestPrivateWordsAreGone(t *testing.T) {
	patterns := map[*regexp.Regexp]string{}
	for pattern, term := range dialect {
		patterns[regexp.MustCompile(`^(`+pattern+`)$`)] = term
	}
	terms := map[string]string{} // by each word of the tree, "" for most
	termOf := func(word string) string {
		word = strings.ToLower(word)
		if _, known := terms[word]; !known {
			terms[word] = ""
			for pattern, term := range patterns {
				if pattern.MatchString(word) {
					terms[word] = term
				}
			}
		}
		return terms[word]
	}
	between := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, path := range tracked(t, "*.go", "*.c", "*.h", "*.cu", "*.md", "*.yaml", "*.hcl", "scripts/*") {
		if strings.Contains(path, "testdata/") || path == "test/house/words_test.go" || path == "CHANGELOG.md" {
			continue
		}
		for i, line := range strings.Split(string(read(t, path)), "\n") {
			words := strings.FieldsFunc(line, between)
			for n, word := range words {
				if n > 0 && (words[n-1] == "so" || words[n-1] == "in") { // some terms have two words
					words = append(words, words[n-1]+" "+word)
				}
			}
			for _, word := range words {
				if term := termOf(word); term != "" {
					t.Errorf("%s%s (say: %s)", position(path, i), strings.TrimSpace(line), term)
				}
			}
		}
	}
}

// mostWords is how many words a sentence of a document may have.
const mostWords = 40

func TestSentencesOfDocumentsAreShort(t *testing.T) {
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	end := regexp.MustCompile(`[.!?:;·]["”)]?(\s|$)|\n\s*\n|\n\s*[-*|#]|\|`)
	for _, path := range tracked(t, "*.md") {
		if strings.Contains(path, "testdata/") || filepath.Base(path) == "licences.md" {
			continue
		}
		text := code.ReplaceAllString(string(read(t, path)), "x")
		for _, sentence := range end.Split(text, -1) {
			if words := strings.Fields(sentence); len(words) > mostWords {
				t.Errorf("%s: a sentence of %d words: %s …", path, len(words), strings.Join(words[:12], " "))
			}
		}
	}
}

func position(path string, line int) string { return path + ":" + strconv.Itoa(line+1) + ": " }
