package importer

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/workload/serving"
)

// Line is one call of a tool.
type Line struct {
	at         string // its place, for errors, with a colon; "" for a text of one line
	path       string // path of the program as called
	args       []string
	env        []Variable
	launch     launcherCall // the launcher of all its processes
	notes      []Note
	tool       *tool
	ofWrappers []Note             // of words before the tool's name that a run of its own command line has
	whole      []string           // all words of the command
	files      map[string]*string // those that the script wrote before
	outer      *outer             // the command that reads it from a text; nil: there is none
	amount
	fate  *Fate
	wrong error // why it cannot be read; nil: it may be
}

// Variable is an environment variable.
type Variable struct {
	Name, Value string
	secret      bool // it is read from the environment in which the process starts
}

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
	s := &script{tools: []*tool{t}, file: file, unsureLoop: outside, jobsOf: newJobs()}
	if err := s.readAll(text); err != nil {
		return nil, err
	}
	if len(s.lines) == 0 {
		return nil, fmt.Errorf("no call of %s was found", strings.Join(t.called(), ", "))
	}
	return s.lines, nil
}

// script is a text being searched for calls.
type script struct {
	tools   []*tool
	file    string                            // "": it is a command line
	read    func(path string) ([]byte, error) // reads files that the script reads; nil: none
	sourced map[string]*syntax.File           // the files that it reads, by path
	written map[string]*writtenFile           // the files that it writes, by path
	at      int                               // the line of the command that leads to another file; 0: it is this one
	any     bool                              // every command has a fate, whatever it is
	fates   []*Fate
	fateOf  map[syntax.Node]*Fate
	fatesIn map[*syntax.CallExpr][]*Fate // of the texts that commands have as arguments
	reached map[syntax.Node]bool         // commands that run
	known   variables
	// functions are those of the script, and ofFunctions the variables that one of several of a name may assign.
	functions   map[string]*function
	several     map[string]*function // those that are defined more than once
	ofFunctions variables
	locals      []map[string]func(variables) // of each call of a function around the command: what restores them
	calls       int                          // of functions around the command
	// unsure is how many branches around the command may not run; unsureLoop, unsureFunction and unsureShell are those
	// around the innermost loop, function and shell.
	unsure, unsureLoop, unsureFunction, unsureShell int
	after                                           []variables // what is known at the end of each branch read last

	jump, leaving jump
	depth         int // of loops around the command, in its function and shell
	around        int // all loops around the command
	levels        int // how many loops break or continue leaves
	piped         []piped
	commands      int // in all passes of loops
	tried         int // passes of loops that may turn out not to be known
	jobsOf
	outerCommand *outer
	allocated    launcherCall // what the script asks sbatch for
	stmtOf       map[syntax.Command]*syntax.Stmt
	lost         []Note // of files that the scenario does not write
	exported     []Variable
	exportsAll   bool     // what is assigned is exported
	marked       []string // names of variables that will be exported once they have a value
	notes        []Note
	lines        []Line
	others       []otherCommand
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
		return s.tooMany()
	}
	if len(n.Args) == 0 {
		s.assigned(text, n)
		return nil
	}
	var words, written []string
	for _, w := range n.Args {
		words, written = append(words, s.words(text, w)...), append(written, word(text, w))
	}
	return s.command(text, n, words, written, depth)
}

func (s *script) tooMany() error {
	return fmt.Errorf("%sits loops run more than %d commands", s.prefix(), mostCommands)
}

// command reads the words of a command, if they call the tool.
func (s *script) command(text string, n *syntax.CallExpr, words, written []string, depth int) error {
	if words = unwrapped(words); len(words) > 1 && words[0] == "command" && !strings.HasPrefix(words[1], "-") {
		words = words[1:]
	}
	l := Line{at: s.prefix(), env: slices.Clone(s.exported), notes: slices.Clone(s.notes)}
	if s.file != "" && (depth == 0 || s.at > 0) {
		l.at = fmt.Sprintf("%s:%d: ", s.file, s.lineOf(n))
	}
	for _, a := range n.Assigns {
		if a.Name == nil || a.Array != nil || a.Index != nil || a.Append {
			continue
		}
		l.setEnv(a.Name.Value, s.word(text, a.Value))
	}
	t, i, taken := s.find(words)
	if t == curl {
		words = s.withData(n, words)
	} else if t == nil {
		s.dropFiles(words)
	}
	if t == nil && depth < maxNesting {
		if of, ok := s.textOf(text, n, words); ok {
			of.before = words[:of.at]
			l.before(of.before)
			l.readsText(words, of.argument, s.outerCommand)
			return s.inner(n, l, of, depth)
		}
	}
	switch {
	case t == nil && s.any:
		s.unread(text, n, written, words)
		return nil
	case t == nil && s.file == "" && len(words) > 0 && depth == 0:
		return fmt.Errorf("it begins with %q, not with %s or one of the wrappers %s",
			words[0], strings.Join(s.tools[0].called(), ", "), strings.Join(wrappers, ", "))
	case t == nil:
		return nil
	}
	l.tool, l.path, l.args, l.whole, l.files = t, words[i], words[i+taken:], words, maps.Clone(s.known[ofFiles].files)
	if taken > 1 {
		l.path = words[i+taken-1]
	}
	if became := l.measuresNot(); became != "" {
		s.tell(n, strings.Join(written, " "), became)
		return nil
	}
	l.amount = s.amount()
	l.fate = s.tell(n, strings.Join(written, " "), "")
	l.before(words[:i])
	l.in(s.outerCommand)
	if l.launch == (launcherCall{by: "srun"}) && s.allocated.all > 0 { // it starts all
		l.launch = s.allocated
		l.notes = append(l.notes, Note{Text: fmt.Sprintf("srun starts the %d processes for which the script asks sbatch: "+
			"weir has to run in such a job", l.launch.all)})
	}
	for _, w := range words {
		if _, is := l.files[path.Clean(w)]; is && s.written[path.Clean(w)] == nil {
			const lost = "the script writes %s, and the scenario does not: a command of setup can"
			l.notes = append(l.notes, Note{fmt.Sprintf(lost, w), true})
		}
	}
	if t.kind != serving.Kind { // loads have no use for them
		l.wrong = unknownOf(l.env)
	}
	s.lines = append(s.lines, l)
	return nil
}

// unknownOf is the error of the last variable with a value that only the shell knows; nil: there is none.
func unknownOf(env []Variable) (err error) {
	for _, v := range env {
		if unexpanded(v.Value) {
			err = fmt.Errorf("variable %s: %q%s", v.Name, v.Value, ofShell(v.Value))
		}
	}
	return err
}
