package importer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNesting is the maximum nesting of texts, as those of bash -c.
const maxNesting = 4

// readText reads the commands of a text, then those of functions that no command of it calls by name.
func (s *script) readText(text string, depth int) error {
	if s.known == nil {
		s.known = variables{}
	}
	f, err := parse(text)
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%sline %d, column %d: %s", s.prefix(), wrong.Pos.Line(), wrong.Pos.Col(), wrong.Text)
	}
	if err != nil {
		return fmt.Errorf("%s%w", s.prefix(), err)
	}
	s.define(text, f)
	s.allocate(text)
	if err := s.walk(text, f, depth); err != nil {
		return err
	}
	s.jump = onward
	if err := s.readUncalled(f, depth); err != nil {
		return err
	}
	s.tellChanging(0, false)
	s.tellUnreached(text, f)
	return nil
}

// walk reads the commands below a node in order, each pass of a loop by itself.
func (s *script) walk(text string, top syntax.Node, depth int) (err error) {
	syntax.Walk(top, func(n syntax.Node) bool {
		if n == nil || err != nil || s.jump != onward {
			return false
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			if s.stmtOf == nil {
				s.stmtOf = map[syntax.Command]*syntax.Stmt{}
			}
			s.keepOutput(n)
			if s.stmtOf[n.Cmd] = n; n.Background && n.Cmd != nil {
				err = s.job(func() error { return s.walkParts(text, n, depth) })
				return false
			}
		case *syntax.ForClause:
			err = s.loop(text, n, depth)
			return false
		case *syntax.WhileClause:
			err = s.while(text, n, depth)
			return false
		case *syntax.IfClause:
			err = s.choose(text, n, depth)
			return false
		case *syntax.CaseClause:
			err = s.cases(text, n, depth)
			return false
		case *syntax.BinaryCmd:
			err = s.either(text, n, depth)
			return false
		case *syntax.Subshell:
			err = s.ownShell(func() error { return s.walkAll(text, n.Stmts, depth) })
			return false
		case *syntax.CmdSubst:
			err = s.ownShell(func() error { return s.walkAll(text, n.Stmts, depth) })
			return false
		case *syntax.ProcSubst:
			err = s.ownShell(func() error { return s.walkAll(text, n.Stmts, depth) })
			return false
		case *syntax.FuncDecl:
			err = s.redefine(text, n, depth)
			return false
		case *syntax.DeclClause:
			s.declare(text, n)
			return false
		case *syntax.CallExpr:
			if err = s.simple(text, n, depth); err == nil {
				err = s.walkSubstitutions(text, n, depth)
			}
			return false
		case *syntax.TestClause:
			err = s.walkSubstitutions(text, n, depth)
			if o, known := s.known.evaluate([]*syntax.Stmt{{Cmd: n}}, input{}); known {
				s.known.take(o) // what a pattern matched
			}
			return false
		case *syntax.ArithmExp:
			s.known.forgetIn(n)
		case *syntax.ArithmCmd:
			err = s.walkSubstitutions(text, n, depth)
			s.calculate(n, n.X)
			return false
		case *syntax.LetClause:
			err = s.walkSubstitutions(text, n, depth)
			s.calculate(n, n.Exprs...)
			return false
		}
		return err == nil
	})
	return err
}

// walkSubstitutions reads the commands in arithmetic.
func (s *script) walkSubstitutions(text string, n syntax.Node, depth int) (err error) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			if err == nil {
				err = s.walk(text, n, depth)
			}
			return false
		}
		return err == nil
	})
	return err
}

// calculate keeps what arithmetic assigns; in quotes, let has it too.
func (s *script) calculate(n syntax.Node, all ...syntax.ArithmExpr) {
	after, known := maps.Clone(s.known), true
	for _, e := range all {
		if w, ok := e.(*syntax.Word); ok && w.Lit() == "" {
			text, ok := s.known.value(w)
			inner, err := syntax.NewParser().Arithmetic(strings.NewReader(text))
			if known = known && ok && err == nil && inner != nil; !known {
				break
			}
			e = inner
		}
		_, ok := after.number(e, true)
		known = known && ok
	}
	if known {
		s.known = after
	} else {
		s.known.forgetIn(n)
	}
}

// walkParts reads a statement's redirections and its command.
func (s *script) walkParts(text string, n *syntax.Stmt, depth int) error {
	for _, r := range n.Redirs {
		if err := s.walk(text, r, depth); err != nil {
			return err
		}
	}
	return s.walk(text, n.Cmd, depth)
}

// walkAll reads statements one after another.
func (s *script) walkAll(text string, all []*syntax.Stmt, depth int) error {
	for _, stmt := range all {
		if err := s.walk(text, stmt, depth); err != nil {
			return err
		}
	}
	return nil
}

// simple reads a command that is no compound one.
func (s *script) simple(text string, n *syntax.CallExpr, depth int) error {
	s.reach(n)
	if len(n.Args) > 0 {
		if done, err := s.builtin(text, n, depth); done {
			return err
		}
	}
	if len(n.Args) == 0 || n.Args[0].Lit() != "set" && n.Args[0].Lit() != "shift" {
		s.known.forgetBy(n)
	}
	err := s.call(text, n, depth)
	s.jump, s.leaving = s.leaving, onward
	return err
}

// reach keeps that a command runs.
func (s *script) reach(n syntax.Node) {
	if s.reached == nil {
		s.reached = map[syntax.Node]bool{}
	}
	s.reached[n] = true
}

// ownShell reads commands of a shell of their own: nothing that they set is set afterwards, and they leave only it.
func (s *script) ownShell(read func() error) error {
	before := *s
	s.known, s.unsureLoop, s.unsureShell, s.depth = maps.Clone(s.known), outside, s.unsure, 0
	s.moments = maps.Clone(s.moments)
	err := read()
	s.known, s.exported, s.notes, s.marked = before.known, before.exported, before.notes, before.marked
	s.exportsAll, s.jump, s.depth, s.moments = before.exportsAll, before.jump, before.depth, before.moments
	s.unsureLoop, s.unsureShell = before.unsureLoop, before.unsureShell
	return err
}

// maybe reads commands that run or not, or elsewhere. The variables that they assign are not known afterwards,
// nor are those that they export.
func (s *script) maybe(n syntax.Node, arms ...func() error) error {
	before, exported := s.known, s.exported
	differ, after := map[string]bool{}, []variables{}
	s.unsure++
	defer func() { s.unsure-- }()
	_, isFunction := n.(*syntax.FuncDecl)
	if !isFunction {
		s.branches++
		defer func() { s.branches-- }()
	}
	for _, arm := range arms {
		s.known, s.exported = maps.Clone(before), exported
		if err := arm(); err != nil {
			return err
		}
		s.jump = onward
		after = append(after, s.known)
		for _, v := range s.exported {
			if !slices.Contains(exported, v) {
				differ[v.Name] = true
			}
		}
		for _, v := range exported {
			if !slices.Contains(s.exported, v) {
				differ[v.Name] = true
			}
		}
	}
	s.known, s.exported, s.after = before, exported, after
	s.known.forgetIn(n)
	if isFunction {
		return nil // it is not called
	}
	for name := range differ {
		s.dropExported(name)
		s.warn(Note{"variable " + name + ": only the shell knows whether a line that exports it runs", true})
	}
	return nil
}

// take adds the lines of a text that a command has as an argument. All passes of a loop have its fates.
func (s *script) take(n *syntax.CallExpr, inner *script) {
	earlier, again := s.fatesIn[n]
	if again = again && len(earlier) == len(inner.fates); !again {
		if s.fatesIn == nil {
			s.fatesIn = map[*syntax.CallExpr][]*Fate{}
		}
		s.fatesIn[n], s.fates = inner.fates, append(s.fates, inner.fates...)
	}
	for i, fate := range inner.fates {
		fate.Line = s.lineOf(n)
		for k := range inner.lines {
			if again && inner.lines[k].fate == fate {
				inner.lines[k].fate = earlier[i]
			}
		}
	}
	s.lines = append(s.lines, inner.lines...)
}
