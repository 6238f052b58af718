package importer

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Texts of commands that other commands run: bash -c, a here-document, a file that the script writes.

// commandText is a text of commands.
type commandText struct {
	text     string
	args     []string // $0 and those after it; nil: not known
	at       int      // how many words come before it
	before   []string // they
	argument bool     // it is one of the words
}

var (
	// textFlag matches the flag before a text of commands.
	textFlag = lazyregexp.New(`^(-[a-z]*c|--command)$`)
	// runsTexts are programs with such a flag.
	runsTexts = names("bash|sh|dash|zsh|ksh|su|runuser|script|flock")
	// jobText is the flag of a text that is a job.
	jobText = "--wrap"
)

// textOf returns the text that a command runs, if it names a tool or is a file that the script writes.
func (s *script) textOf(text string, n *syntax.CallExpr, words []string) (of commandText, ok bool) {
	if len(words) == 0 {
		return of, false
	}
	if of, ok = s.fileOf(words); ok || !wraps(words) {
		return of, ok
	}
	if of, ok = textArgument(words); ok {
		of.argument = true
		return of, s.mentioned(of.text) || s.callsExported(of.text)
	}
	if last := len(words) - 1; s.mentioned(words[last]) {
		return commandText{text: words[last], at: last, argument: true}, true
	}
	of = commandText{text: s.shellText(text, n, words), at: len(words)}
	if i := slices.Index(words, "-s"); i >= 0 {
		of.args = words[i:]
	}
	return of, s.mentioned(of.text)
}

// callsExported reports whether a text has a function that the script exports as a word.
func (s *script) callsExported(text string) bool {
	between := func(r rune) bool { return strings.ContainsRune(" \t\n;&|()\"'", r) }
	return slices.ContainsFunc(strings.FieldsFunc(text, between), func(word string) bool {
		return s.functions[word] != nil && s.functions[word].exported
	})
}

// textArgument returns the text behind -c, or of a job.
func textArgument(words []string) (of commandText, ok bool) {
	for i, w := range words {
		flag, value, joined := strings.Cut(w, "=")
		if flag == jobText && joined {
			return commandText{text: value, at: i}, true
		}
		if i+1 == len(words) {
			break
		}
		if flag == jobText {
			return commandText{text: words[i+1], at: i}, true
		}
		name := path.Base(w)
		if !slices.Contains(runsTexts, name) || i > 0 && !isWrapper(words[0]) {
			continue
		}
		isShell := strings.HasSuffix(name, "sh")
		for k := i + 1; k+1 < len(words) && (!isShell || strings.HasPrefix(words[k], "-")); k++ {
			switch {
			case !textFlag().MatchString(words[k]):
			case isShell:
				return commandText{text: words[k+1], args: words[k+2:], at: k}, true
			default:
				return commandText{text: words[k+1], at: k}, true
			}
		}
	}
	return of, false
}

// shellText returns the commands that a shell, a job or another host reads from a text of the script; "": none.
func (s *script) shellText(text string, n *syntax.CallExpr, words []string) string {
	stmt := s.stmtOf[n]
	last, first := path.Base(words[len(words)-1]), path.Base(words[0])
	reads := slices.Contains(names("bash|sh|-s|-"), last) || slices.Contains(words, "-s") ||
		first == "ssh" || first == "sbatch"
	if startsNothing(words) {
		return ""
	}
	isPython := func(w string) bool { return pythonName().MatchString(path.Base(w)) }
	if stmt == nil || !reads || slices.ContainsFunc(words, isPython) {
		return ""
	}
	return s.givenText(text, stmt)
}

// startsNothing reports whether a program that starts others does something else, as kubectl apply -f FILE.
func startsNothing(words []string) bool {
	start, _ := commandStart(words)
	return start == 0 && withOperands[path.Base(words[0])].runs != nil
}

// givenText is given, with what only a shell knows as written.
func (s *script) givenText(text string, n *syntax.Stmt) string {
	for _, r := range n.Redirs {
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
			return s.document(text, r)
		}
	}
	given, _, _ := s.given(n)
	return given
}

// inManifest returns the program of a tool that the containers of a manifest run with flags, which a command of
// kubectl reads or which the script writes; "": none.
func (s *script) inManifest(text string, n *syntax.CallExpr, words []string) string {
	if name := path.Base(words[0]); name != "kubectl" && name != "oc" || s.stmtOf[n] == nil {
		return ""
	}
	manifest := s.givenText(text, s.stmtOf[n])
	for _, w := range words {
		if file := s.written[path.Clean(w)]; file != nil {
			manifest += "\n" + file.text
		}
	}
	all := strings.FieldsFunc(manifest, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"[],", r) })
	all = slices.DeleteFunc(all, func(w string) bool { return w == "-" }) // of a list
	program, runs := s.namedIn(append([]string{words[0]}, all...))
	if !runs {
		return ""
	}
	return program
}

// document returns the text of a here-document, with what only a shell knows as written.
func (s *script) document(text string, r *syntax.Redirect) string {
	of, known := s.known.document(r)
	if known {
		return of
	}
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		if l, ok := part.(*syntax.Lit); ok {
			b.WriteString(inDocuments.Replace(l.Value))
			continue
		}
		b.WriteString(s.partly(text, &syntax.Word{Parts: []syntax.WordPart{part}}))
	}
	return b.String()
}

// inDocuments are the backslashes with a meaning in here-documents.
var inDocuments = strings.NewReplacer(`\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", "")

// writtenFile is a file that the script writes from a text of its own.
type writtenFile struct {
	text string
	fate *Fate
	note Note
}

// fileOf returns the text of a file that a command runs, if the script writes it.
func (s *script) fileOf(words []string) (of commandText, ok bool) {
	for i, w := range words {
		file := s.written[path.Clean(w)]
		isRun := i == 0 || wraps(words) && !startsNothing(words) && !pythonName().MatchString(path.Base(words[i-1]))
		if file == nil || !isRun {
			continue
		}
		if _, err := parse(file.text); err != nil {
			continue
		}
		s.runs(w, file)
		return commandText{text: file.text, args: words[i:], at: i}, true
	}
	return of, false
}

// keepFile keeps the text of a file that a command writes.
func (s *script) keepFile(text string, n *syntax.CallExpr, file string, fate *Fate, note Note) {
	if s.written == nil {
		s.written = map[string]*writtenFile{}
	}
	of, before := &writtenFile{fate: fate, note: note}, s.written[path.Clean(file)]
	if before != nil && len(n.Args) > 1 && n.Args[1].Lit() == "-a" { // tee -a
		of.text = before.text
	}
	for _, r := range s.stmtOf[n].Redirs {
		switch {
		case r.Op == syntax.AppOut && before != nil:
			of.text = before.text + of.text
		case r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc:
			of.text += s.document(text, r)
		case r.Op == syntax.WordHdoc:
			of.text += s.word(text, r.Word) + "\n"
		}
	}
	s.written[path.Clean(file)] = of
}

// unknownSource returns the commands before a pipe from which a command reads a text that is not known.
func (s *script) unknownSource(n *syntax.CallExpr) (source string) {
	for _, p := range s.piped {
		if p.to == s.stmtOf[n] && !p.known {
			source = p.source
		}
	}
	return source
}

// runs tells that a file which the script writes is read where it is run.
func (s *script) runs(name string, file *writtenFile) {
	file.fate.Became = "file " + name + ", read where a later line uses it"
	s.lost = slices.DeleteFunc(slices.Clone(s.lost), func(n Note) bool { return n == file.note })
}

// inner reads the commands of a text that a wrapper gets.
func (s *script) inner(n *syntax.CallExpr, l Line, of commandText, depth int) error {
	if _, err := parse(of.text); err != nil && s.any {
		s.refuse(n, of.text, "it is no text of a shell: "+err.Error())
		return nil
	}
	inner := &script{
		tools: s.tools, file: s.file, any: s.any, exported: l.env, notes: l.notes, known: elsewhere(),
		commands: s.commands, unsureLoop: outside, read: s.read, sourced: s.sourced, written: s.written,
		at: s.lineOf(n), jobsOf: s.jobsOf, outerCommand: l.outer, reached: s.reached,
	}
	inner.moments = maps.Clone(s.moments)
	if seconds := limitOf(of.before); seconds > 0 {
		inner.limit = seconds
	}
	inner.known[ofFiles] = variable{files: s.known.files()}
	inner.functions, inner.ofFunctions, inner.several = map[string]*function{}, variables{}, map[string]*function{}
	for name, f := range s.functions {
		if f.exported {
			inner.functions[name], inner.known[functionEntry(name)] = f, variable{function: f}
		}
	}
	if len(of.args) <= mostArguments && of.args != nil {
		given := []variable{}
		for i, a := range of.args {
			if i > 0 {
				given = append(given, wordOf(a))
				continue
			}
			inner.known["0"] = wordOf(a)
		}
		inner.known.setArguments(given)
	}
	for _, v := range l.env {
		if !unexpanded(v.Value) {
			inner.known.set(v.Name, v.Value, true)
			inner.known.assume(v.Name, s.known[v.Name].assumed)
		}
	}
	err := inner.readText(of.text, depth+1)
	s.commands = inner.commands
	s.take(n, inner)
	return err
}

// wordOf is an argument of a text of commands.
func wordOf(word string) variable {
	if unexpanded(word) {
		if shellVariable().FindString(word) != word {
			word = ""
		}
		return variable{written: word}
	}
	return variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: word}}
}
