package importer

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// givenTo returns the text that a command itself reads.
func (s *script) givenTo(n *syntax.CallExpr) (text string, known, assumed bool) {
	if stmt := s.stmtOf[n]; stmt != nil {
		return s.given(stmt)
	}
	return "", false, false
}

// sets runs a command that sets variables by what it reads, as read and mapfile. It is not done if that is not known.
func (s *script) sets(n *syntax.CallExpr) (done bool) {
	text, known, assumed := s.givenTo(n)
	if n.Args[0].Lit() == "read" && !joinsNoLines(n, text) {
		return false
	}
	if at := len(n.Args) - 1; at > 2 && n.Args[at-2].Lit() == "-d" && litOf(n.Args[at-1]) == "" && known { // all lines
		s.known.set(n.Args[at].Lit(), strings.Trim(text, blanks), true)
		s.known.assume(n.Args[at].Lit(), assumed)
		return true
	}
	return s.known.setBy(&syntax.Stmt{Cmd: n}, input{text, known}, assumed)
}

// joinsNoLines reports whether read takes each line of a text by itself: with -r, or without a backslash.
func joinsNoLines(n *syntax.CallExpr, text string) bool {
	return !strings.Contains(text, `\`) || slices.ContainsFunc(n.Args, func(w *syntax.Word) bool {
		return strings.HasPrefix(w.Lit(), "-") && strings.Contains(w.Lit(), "r")
	})
}

// printInto sets a variable to what printf -v prints.
func (s *script) printInto(text string, n *syntax.CallExpr) (done bool) {
	if len(n.Args) < 4 || n.Args[1].Lit() != "-v" {
		return false
	}
	to, ok := s.known.value(n.Args[2])
	prints := &syntax.CallExpr{Args: slices.Concat(n.Args[:1], n.Args[3:])}
	printed, known := s.known.output(&syntax.Stmt{Cmd: prints}, input{})
	f, err := parse(to + "=x")
	if !ok || !known || err != nil || len(f.Stmts) != 1 {
		return false
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) != 1 {
		return false
	}
	a := call.Assigns[0]
	a.Value = &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: printed}}}
	if known = s.assign(text, a); known && s.known.assumes(prints) {
		s.known.assume(a.Name.Value, true)
	}
	return known
}
