package importer

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Line is one call of a tool.
type Line struct {
	at     string // its place, for errors, with a colon; "" for a text of one line
	path   string // path of the program as called
	args   []string
	env    []Variable
	launch launcherCall // the launcher of all its processes
	notes  []Note
}

// Variable is an environment variable.
type Variable struct{ Name, Value string }

// wrappers are programs that start the one after them.
var wrappers = names("kubectl|oc|docker|podman|mpirun|mpiexec|srun|numactl|taskset|env|timeout|sudo|time|nohup|" +
	"exec|stdbuf|ssh|chrt|nice|python|python3|torchrun|bash|sh")

var (
	assignment = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)=(?s:(.*))$`)
	upperCase  = lazyregexp.New(`^[A-Z0-9_]+=`)
)

const maxText = 1 << 20

// Lines finds the calls of a tool in a command line, or in a shell script if file is its name.
// Words are split as in a shell, but not expanded.
func Lines(toolName, file, text string) ([]Line, error) {
	t, err := lookup(toolName)
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > maxText {
		return nil, fmt.Errorf("this is not UTF-8 text of at most %d bytes", maxText)
	}
	s := &script{tool: t, file: file}
	if err := s.read(text, 0); err != nil {
		return nil, err
	}
	if len(s.lines) == 0 {
		return nil, fmt.Errorf("it has no call of %s", strings.Join(t.called(), ", "))
	}
	return s.lines, nil
}

// script is a text being searched for calls.
type script struct {
	tool     *tool
	file     string // "": it is a command line
	exported []Variable
	notes    []Note
	lines    []Line
}

// maxNesting is the maximum nesting of texts, as those of bash -c.
const maxNesting = 4

func (s *script) read(text string, depth int) (err error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%sline %d, column %d: %s", s.prefix(), wrong.Pos.Line(), wrong.Pos.Col(), wrong.Text)
	}
	if err != nil {
		return fmt.Errorf("%s%w", s.prefix(), err)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DeclClause:
			if n.Variant.Value == "export" {
				s.export(text, n.Args)
			}
		case *syntax.CallExpr:
			if wrong := s.call(text, n, depth); wrong != nil && err == nil {
				err = wrong
			}
		}
		return err == nil
	})
	return err
}

func (s *script) prefix() string {
	if s.file == "" {
		return ""
	}
	return s.file + ": "
}

// export keeps variables for later calls; one without a plain value is removed.
func (s *script) export(text string, all []*syntax.Assign) {
	for _, a := range all {
		if a.Name == nil || a.Naked || a.Array != nil || a.Index != nil || a.Append {
			continue
		}
		v := word(text, a.Value)
		if unexpanded(v) {
			s.notes = append(s.notes, Note{"variable " + a.Name.Value + ofShell(v), true})
			continue
		}
		s.exported = append(s.exported, Variable{a.Name.Value, v})
	}
}

// call reads a command if it is one of the tool.
func (s *script) call(text string, n *syntax.CallExpr, depth int) error {
	var words []string
	for _, w := range n.Args {
		words = append(words, word(text, w))
	}
	l := Line{at: s.prefix(), env: slices.Clone(s.exported), notes: slices.Clone(s.notes)}
	if s.file != "" && depth == 0 {
		l.at = fmt.Sprintf("%s:%d: ", s.file, n.Pos().Line())
	}
	for _, a := range n.Assigns {
		if a.Name == nil || a.Array != nil || a.Index != nil || a.Append {
			continue
		}
		l.setEnv(a.Name.Value, word(text, a.Value))
	}
	i := s.tool.find(words)
	switch {
	case i < 0 && depth < maxNesting && wraps(words) && s.tool.mentioned(words[len(words)-1]):
		last := len(words) - 1
		l.before(words[:last])
		inner := &script{tool: s.tool, file: s.file, exported: l.env, notes: l.notes}
		err := inner.read(words[last], depth+1)
		s.lines = append(s.lines, inner.lines...)
		return err
	case i < 0 && s.file == "" && len(words) > 0 && depth == 0:
		return fmt.Errorf("it begins with %q, not with %s or one of the wrappers %s",
			words[0], strings.Join(s.tool.called(), ", "), strings.Join(wrappers, ", "))
	case i < 0:
		return nil
	}
	l.path, l.args = words[i], words[i+1:]
	l.before(words[:i])
	for _, v := range l.env {
		if unexpanded(v.Value) {
			return fmt.Errorf("%svariable %s: %q%s", l.at, v.Name, v.Value, ofShell(v.Value))
		}
	}
	s.lines = append(s.lines, l)
	return nil
}

// before reads the words before the tool's name: variables after env, or after -x of mpirun, or
// with names in capitals. It ignores the rest.
func (l *Line) before(words []string) {
	var others []string
	sets := false
	for _, w := range words {
		m := assignment().FindStringSubmatch(w)
		switch {
		case m != nil && (sets || upperCase().MatchString(w)):
			l.setEnv(m[1], m[2])
			sets = true
		default:
			sets = path.Base(w) == "env" || w == "-x"
			others = append(others, w)
		}
	}
	if found := launcherCallOf(words); found.by != "" {
		l.launch = found
	}
	l.notes = append(l.notes, skipped(others)...)
}

// setEnv sets a variable of the call; the last value counts.
func (l *Line) setEnv(name, v string) {
	l.env = slices.DeleteFunc(l.env, func(e Variable) bool { return e.Name == name })
	l.env = append(l.env, Variable{name, v})
}

// find returns the position of the tool's name among words, -1 if the command is another.
func (t *tool) find(words []string) int {
	if len(words) == 0 {
		return -1
	}
	if !wraps(words) {
		if slices.Contains(t.called(), path.Base(words[0])) {
			return 0
		}
		return -1
	}
	from := 1 + slices.Index(words, "--") // words before it may also have the tool's name
	i := slices.IndexFunc(words[from:], func(w string) bool { return slices.Contains(t.called(), path.Base(w)) })
	if i < 0 {
		return -1
	}
	return from + i
}

func wraps(words []string) bool {
	return len(words) > 0 && isWrapper(words[0])
}

// mentioned reports whether a word is itself a command line of the tool.
func (t *tool) mentioned(w string) bool {
	return strings.ContainsAny(w, " \t\n") &&
		slices.ContainsFunc(t.called(), func(p string) bool { return strings.Contains(w, p) })
}

// skipped notes ignored words before the tool's name that say where it runs, or how often.
func skipped(words []string) []Note {
	var told []string
	for i, w := range words {
		name := path.Base(w)
		starts := i == 0 || isWrapper(words[i-1]) || strings.HasPrefix(words[i-1], "-")
		silent := slices.Contains(neutralWrappers, name) || pythonName().MatchString(name) || launcherOf(w) != ""
		if starts && slices.Contains(wrappers, name) && !silent && !slices.Contains(told, name) {
			told = append(told, name)
		}
	}
	if told == nil {
		return nil
	}
	return []Note{{Text: "words before the tool's name are ignored: " + strings.Join(told, ", ")}}
}

// word returns a word without its quotes. A word that a shell would expand stays as written.
func word(text string, w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		if !unquoted(&b, part, false) {
			return text[w.Pos().Offset():w.End().Offset()]
		}
	}
	return b.String()
}

// unquoted writes a part of a word; false: only a shell can evaluate it.
func unquoted(b *strings.Builder, part syntax.WordPart, inQuotes bool) bool {
	switch p := part.(type) {
	case *syntax.Lit:
		b.WriteString(unescaped(p.Value, inQuotes))
		return true
	case *syntax.SglQuoted:
		b.WriteString(p.Value)
		return !p.Dollar
	case *syntax.DblQuoted:
		return !p.Dollar && !slices.ContainsFunc(p.Parts,
			func(inner syntax.WordPart) bool { return !unquoted(b, inner, true) })
	}
	return false
}

// unescaped removes backslashes; in double quotes, only those with a meaning there.
func unescaped(s string, inQuotes bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || inQuotes && !strings.ContainsRune("$`\"\\\n", rune(s[i+1])) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
