package importer

import (
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
	printed, known := s.known.output(n.X, input{})
	source := text[n.X.Pos().Offset():n.X.End().Offset()]
	s.piped = append(s.piped, piped{n.Y, printed, source, known, known && s.known.assumes(n.X)})
	defer func() { s.piped = s.piped[:len(s.piped)-1] }()
	return s.inPipe(text, n.Y, depth)
}

// piped is what a statement reads from a pipe.
type piped struct {
	to      *syntax.Stmt
	text    string
	source  string // the commands that print it
	known   bool
	assumed bool // it follows from a default
}

// inPipe reads a command of a pipe: a shell of its own, in which nothing leaves what is around the pipe.
func (s *script) inPipe(text string, n *syntax.Stmt, depth int) error {
	return s.ownShell(func() error { return s.walk(text, n, depth) })
}

// given returns the text that a statement reads: of a here-document, a here-string, another command or a pipe.
func (s *script) given(n *syntax.Stmt) (text string, known, assumed bool) {
	for _, p := range s.piped {
		if p.to == n {
			text, known, assumed = p.text, p.known, p.assumed
		}
	}
	in, redirected := s.known.redirected(n.Redirs)
	if redirected {
		text, known = in.text, in.known
		for _, r := range n.Redirs {
			assumed = known && s.known.assumes(r)
			if name, ok := s.known.value(r.Word); ok && known && r.Op == syntax.RdrIn {
				s.uses(name)
			}
		}
	}
	return text, known, assumed
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
	} else if v.usesOf(r.Hdoc).known {
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
