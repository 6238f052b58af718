package importer

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Texts of a script that its commands read: lines of loops, arguments of xargs, commands of eval and of a shell.

// evaluate reads the commands of eval, if they are known.
func (s *script) evaluate(text string, n *syntax.CallExpr, depth int) (done bool, err error) {
	var words []string
	known := len(n.Args) > 1 && depth < maxNesting && s.calls < mostCalls
	for _, w := range n.Args[1:] {
		fields, ok := s.known.fields(w)
		known = known && ok
		words = append(words, fields...)
	}
	if !known {
		s.tellCommand(text, n, "nothing: only the shell knows what it runs")
		s.known.forgetBy(n)
		return true, nil
	}
	inner := *s
	inner.fates, inner.fateOf, inner.fatesIn, inner.lines, inner.reached = nil, nil, nil, nil, nil
	inner.calls++
	inner.at = s.lineOf(n)
	if inner.readText(strings.Join(words, " "), depth+1) != nil {
		s.tellCommand(text, n, "nothing: only the shell knows what it runs")
		s.known.forgetBy(n)
		return true, nil
	}
	s.known, s.exported, s.notes, s.lost = inner.known, inner.exported, inner.notes, inner.lost
	s.commands, s.exportsAll = inner.commands, inner.exportsAll
	s.take(n, &inner)
	return true, nil
}

// pipe reads a pipe. What it gives to xargs or to a loop is known if the first command prints known words.
func (s *script) pipe(text string, n *syntax.BinaryCmd, depth int) error {
	if err := s.inPipe(text, n.X, depth); err != nil {
		return err
	}
	printed, known := s.printed(n.X)
	s.piped = append(s.piped, piped{n.Y, printed, known})
	defer func() { s.piped = s.piped[:len(s.piped)-1] }()
	if call, ok := n.Y.Cmd.(*syntax.CallExpr); ok && known && len(call.Args) > 0 && call.Args[0].Lit() == "xargs" {
		return s.xargs(text, call, printed, depth)
	}
	return s.inPipe(text, n.Y, depth)
}

// piped is what a statement reads from a pipe.
type piped struct {
	to    *syntax.Stmt
	text  string
	known bool
}

// inPipe reads a command of a pipe: a shell of its own, in which nothing leaves what is around the pipe.
func (s *script) inPipe(text string, n *syntax.Stmt, depth int) error {
	return s.ownShell(func() error { return s.walk(text, n, depth) })
}

// printed returns what a statement prints, if it prints known words.
func (s *script) printed(n *syntax.Stmt) (text string, known bool) {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || n.Background {
		return "", false
	}
	name := call.Args[0].Lit()
	if name == "cat" && len(call.Args) == 1 {
		return s.given(n)
	}
	if len(n.Redirs) > 0 || len(call.Assigns) > 0 {
		return "", false
	}
	var words []string
	for _, w := range call.Args[1:] {
		fields, ok := s.known.fields(w)
		if !ok {
			return "", false
		}
		words = append(words, fields...)
	}
	switch {
	case name == "seq":
		numbers, ok := s.known.seq(&syntax.CmdSubst{Stmts: []*syntax.Stmt{n}})
		return strings.Join(numbers, "\n") + "\n", ok
	case name == "echo" && (len(words) == 0 || !strings.HasPrefix(words[0], "-")):
		text = strings.Join(words, " ") + "\n"
		return text, !strings.Contains(text, `\`)
	case name == "printf" && len(words) > 0:
		format := strings.ReplaceAll(words[0], `\n`, "\n")
		if strings.Count(format, "%s") == 1 && strings.Count(format, "%") == 1 && !strings.Contains(format, `\`) {
			for _, w := range words[1:] {
				text += strings.Replace(format, "%s", w, 1)
			}
			return text, len(words) > 1
		}
		return format, len(words) == 1 && !strings.ContainsAny(format, `%\`)
	}
	return "", false
}

// given returns the text that a statement reads: of a here-document, a here-string or a pipe.
func (s *script) given(n *syntax.Stmt) (text string, known bool) {
	for _, p := range s.piped {
		if p.to == n {
			text, known = p.text, p.known
		}
	}
	for _, r := range n.Redirs {
		switch r.Op {
		case syntax.WordHdoc:
			text, known = s.known.value(r.Word)
			text += "\n"
		case syntax.Hdoc, syntax.DashHdoc:
			text, known = s.known.document(r)
		case syntax.RdrIn:
			return "", false
		}
	}
	return text, known
}

// document returns the text of a here-document.
func (v variables) document(r *syntax.Redirect) (text string, known bool) {
	if r.Hdoc == nil {
		return "", true
	}
	if r.Word.Lit() == "" { // its end is quoted: nothing is expanded
		for _, part := range r.Hdoc.Parts {
			l, ok := part.(*syntax.Lit)
			if !ok {
				return "", false
			}
			text += l.Value
		}
		known = true
	} else if v.knows(r.Hdoc) {
		var err error
		text, err = expand.Document(v.config(), r.Hdoc)
		known = err == nil
	}
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return text, known
}

// shellText returns the commands that a shell, a job or another host reads from a text of the script; "": none.
func (s *script) shellText(n *syntax.CallExpr, words []string) string {
	stmt := s.stmtOf[n]
	if stmt == nil || len(words) == 0 {
		return ""
	}
	last, first := path.Base(words[len(words)-1]), path.Base(words[0])
	reads := slices.Contains(names("bash|sh|-s|-"), last) || first == "ssh" || first == "sbatch"
	if !reads || !wraps(words) {
		return ""
	}
	for _, r := range stmt.Redirs {
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
			text, _ := s.known.document(r)
			return text
		}
	}
	for _, p := range s.piped {
		if p.to == stmt && p.known {
			return p.text
		}
	}
	return ""
}
