package importer

import (
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
	at       string // its place, for errors, with a colon; "" for a text of one line
	path     string // path of the program as called
	args     []string
	env      []Variable
	launch   launcherCall // the launcher of all its processes
	notes    []Note
	tool     *tool
	whole    []string // all words of the command
	loop     []string // values of the loop around it that says how many run together
	times    int      // how often loops repeat it
	parallel bool     // in the background
	fate     *Fate
	wrong    error // why it cannot be read; nil: it may be
}

// Variable is an environment variable.
type Variable struct {
	Name, Value string
	secret      bool // it is read from the environment in which the process starts
}

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
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > maxText {
		return nil, fmt.Errorf("this is not UTF-8 text of at most %d bytes", maxText)
	}
	s := &script{tools: []*tool{t}, file: file}
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
	tools   []*tool
	file    string // "": it is a command line
	any     bool   // every command has a fate, whatever it is
	fates   []*Fate
	fateOf  map[syntax.Node]*Fate
	fatesIn map[*syntax.CallExpr][]*Fate // of the texts that commands have as arguments
	loops   []*syntax.ForClause          // around the command
	known   variables
	// functions are those of the script, and ofFunctions the variables that one of them may assign.
	functions   map[string]bool
	ofFunctions variables
	commands    int // in all passes of loops
	times       int // how often the loops around the command repeat it; 0: once
	background  []*syntax.Stmt
	stmtOf      map[syntax.Command]*syntax.Stmt
	lost        []Note // of files that the scenario does not write
	exported    []Variable
	notes       []Note
	lines       []Line
}

func (s *script) prefix() string {
	if s.file == "" {
		return ""
	}
	return s.file + ": "
}

// call reads a command if it is one of the tool.
func (s *script) call(text string, n *syntax.CallExpr, depth int) error {
	if s.commands++; s.commands > mostCommands {
		return fmt.Errorf("%sits loops run more than %d commands", s.prefix(), mostCommands)
	}
	if len(n.Args) == 0 {
		s.assigned(n)
		return nil
	}
	var words, written []string
	for _, w := range n.Args {
		words, written = append(words, s.words(text, w)...), append(written, word(text, w))
	}
	l := Line{at: s.prefix(), env: slices.Clone(s.exported), notes: slices.Clone(s.notes)}
	if s.file != "" && depth == 0 {
		l.at = fmt.Sprintf("%s:%d: ", s.file, n.Pos().Line())
	}
	for _, a := range n.Assigns {
		if a.Name == nil || a.Array != nil || a.Index != nil || a.Append {
			continue
		}
		l.setEnv(a.Name.Value, s.word(text, a.Value))
	}
	t, i, taken := s.find(words)
	switch {
	case t == nil && depth < maxNesting && wraps(words) && s.mentioned(words[len(words)-1]):
		last := len(words) - 1
		l.before(words[:last])
		inner := &script{
			tools: s.tools, file: s.file, any: s.any, exported: l.env, notes: l.notes, known: elsewhere(),
			commands: s.commands,
		}
		err := inner.read(words[last], depth+1)
		s.commands = inner.commands
		s.take(n, inner)
		return err
	case t == nil && s.any:
		s.unread(text, n, written)
		return nil
	case t == nil && s.file == "" && len(words) > 0 && depth == 0:
		return fmt.Errorf("it begins with %q, not with %s or one of the wrappers %s",
			words[0], strings.Join(s.tools[0].called(), ", "), strings.Join(wrappers, ", "))
	case t == nil:
		return nil
	}
	l.tool, l.path, l.args, l.whole, l.loop = t, words[i], words[i+taken:], words, s.together()
	if taken > 1 {
		l.path = words[i+taken-1]
	}
	if t == curl && !readCurl(l.args).loads() {
		s.tell(n, strings.Join(written, " "), "nothing: it measures nothing, since it asks no model")
		return nil
	}
	l.times, l.parallel = max(1, s.times), s.inBackground(n)
	l.fate = s.tell(n, strings.Join(written, " "), "")
	l.before(words[:i])
	for _, v := range l.env {
		if unexpanded(v.Value) {
			l.wrong = fmt.Errorf("variable %s: %q%s", v.Name, v.Value, ofShell(v.Value))
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
	l.env = append(l.env, Variable{Name: name, Value: v})
}

// find returns the tool that a command calls, the position of its name and the number of words of the
// name; nil if there is none. Of several names, the longest counts.
func (s *script) find(words []string) (found *tool, at, taken int) {
	if len(words) == 0 {
		return nil, 0, 0
	}
	from, to := 0, 1
	if wraps(words) {
		from, to = 1+slices.Index(words, "--"), len(words) // words before it may also have the tool's name
	}
	for _, t := range s.tools {
		for _, program := range t.called() {
			name := strings.Fields(program)
			for i := from; i < to; i++ {
				if len(name) > taken && startsWith(words[i:], name) {
					found, at, taken = t, i, len(name)
				}
			}
		}
	}
	return found, at, taken
}

// startsWith reports whether words begin with a program's name; paths of the first are of no account.
func startsWith(words, name []string) bool {
	return len(words) >= len(name) && path.Base(words[0]) == name[0] && slices.Equal(words[1:len(name)], name[1:])
}

func wraps(words []string) bool {
	return len(words) > 0 && isWrapper(words[0])
}

// mentioned reports whether a word is itself a command line of a tool.
func (s *script) mentioned(w string) bool {
	return strings.ContainsAny(w, " \t\n") && slices.ContainsFunc(s.tools, func(t *tool) bool {
		return slices.ContainsFunc(t.called(), func(p string) bool { return strings.Contains(w, p) })
	})
}

// skipped notes ignored words before the tool's name that say where it runs, or how often.
func skipped(words []string) []Note {
	var named []string
	var notes []Note
	for i, w := range words {
		name := path.Base(w)
		starts := i == 0 || isWrapper(words[i-1]) || strings.HasPrefix(words[i-1], "-")
		silent := slices.Contains(neutralWrappers, name) || pythonName().MatchString(name) || launcherOf(w) != ""
		switch {
		case !starts || !slices.Contains(wrappers, name) || silent || slices.Contains(named, name):
		case insteadOf[name] != "":
			notes = append(notes, Note{Text: name + " is not taken over: " + insteadOf[name]})
		default:
			named = append(named, name)
		}
	}
	if named != nil {
		notes = append(notes, Note{Text: "words before the tool's name are ignored: " + strings.Join(named, ", ")})
	}
	return notes
}
