package importer

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// choose reads if.
func (s *script) choose(text string, n *syntax.IfClause, depth int) error {
	if len(n.Cond) == 0 { // else
		return s.walkAll(text, n.Then, depth)
	}
	yes, c := s.decides(n.Cond)
	if err := s.walkAll(text, n.Cond, depth); err != nil {
		return err
	}
	b := branches{at: n, of: blockOf(n.Cond), line: s.lineOf(n.Cond[0]), tests: true}
	b.parts = []syntax.Node{blockOf(n.Then), nil}
	b.arms = []func() error{
		func() error { return s.walkAll(text, n.Then, depth) },
		func() error {
			if n.Else == nil {
				return nil
			}
			return s.choose(text, n.Else, depth)
		},
	}
	if n.Else != nil {
		b.parts[1] = n.Else
	}
	if c.arms = []int{1}; yes {
		c.arms = []int{0}
	}
	if !c.known || c.assumed {
		s.tellGate(n, n.Cond, n.Then)
	}
	return s.branch(text, b, c)
}

// decides is holds for a branch. What follows from a default, or is so for a script without arguments, is assumed.
func (s *script) decides(cond []*syntax.Stmt) (yes bool, c choice) {
	if o, known := s.holds(cond); known {
		for _, stmt := range cond {
			c.assumed = c.assumed || s.known.assumes(stmt)
		}
		c.known, c.visible = true, c.assumed && !s.finds("", blockOf(cond), 0, asksHost)
		return o.yes, c
	}
	before := s.known
	s.known = maps.Clone(before)
	for _, name := range s.known.askedFor(cond) {
		s.known.set(name, "", true)
	}
	if !before["#"].Set && !before["1"].Set && !before.unknown("1") && !before.unknown("#") { // else of a function
		s.known.setArguments([]variable{})
		for i := range 9 {
			s.known.set(strconv.Itoa(i+1), "", true)
		}
	}
	o, known := s.holds(cond)
	s.known = before
	return o.yes, choice{known: known, assumed: known}
}

// asking are commands that ask for a program.
var asking = names("which|command|type")

func asksHost(_ string, call *syntax.CallExpr) bool {
	return slices.Contains(asking, call.Args[0].Lit())
}

// adopt takes the variables that a branch sets which runs by default.
func (s *script) adopt(branch variables) {
	for name, v := range branch {
		if now := s.known[name]; now.Kind == expand.Unknown && v.Set {
			v.assumed = true
			s.known[name] = v
		}
	}
}

// cases reads case.
func (s *script) cases(text string, n *syntax.CaseClause, depth int) error {
	value, known := s.known.value(n.Word)
	assumed := s.known.assumes(n.Word)
	if err := s.walk(text, n.Word, depth); err != nil {
		return err
	}
	c := choice{known: known, assumed: assumed, visible: assumed}
	b := branches{at: n, of: n.Word, line: s.lineOf(n), tests: true}
	tests, through := true, false
	for i, item := range n.Items {
		b.arms = append(b.arms, func() error { return s.walkAll(text, item.Stmts, depth) })
		b.parts = append(b.parts, blockOf(item.Stmts))
		matches := false
		for _, w := range item.Patterns {
			yes, ok := s.known.matches(value, w)
			c.known = c.known && (ok || matches || !tests)
			matches = matches || yes
		}
		if !(tests && matches) && !through {
			continue
		}
		c.arms = append(c.arms, i)
		tests, through = item.Op == syntax.Resume, item.Op == syntax.Fallthrough
	}
	return s.branch(text, b, c)
}

// either reads two commands joined by && or ||, or a pipe.
func (s *script) either(text string, n *syntax.BinaryCmd, depth int) error {
	if n.Op != syntax.AndStmt && n.Op != syntax.OrStmt {
		return s.pipe(text, n, depth)
	}
	yes, c := s.decides([]*syntax.Stmt{n.X})
	runs := yes == (n.Op == syntax.AndStmt)
	if err := s.walk(text, n.X, depth); err != nil || c.known && !c.assumed && !runs || s.jump != onward {
		return err
	}
	b := branches{at: n.Y, of: n.X, line: s.lineOf(n.X), parts: []syntax.Node{n.Y}}
	b.tests = n.Op == syntax.OrStmt || isTest(n.X)
	b.arms = []func() error{func() error { return s.walk(text, n.Y, depth) }}
	if runs {
		c.arms = []int{0}
	}
	if !c.known || c.assumed {
		s.tellGate(n, []*syntax.Stmt{n.X}, []*syntax.Stmt{n.Y})
	}
	return s.branch(text, b, c)
}

// isTest reports whether a command is a test, the last of those joined by && and ||.
func isTest(n *syntax.Stmt) bool {
	switch cmd := n.Cmd.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd:
		return true
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && (cmd.Args[0].Lit() == "[" || cmd.Args[0].Lit() == "test")
	case *syntax.BinaryCmd:
		return isTest(cmd.Y)
	}
	return false
}

// holds returns what a condition does, if that is known.
func (s *script) holds(cond []*syntax.Stmt) (o outcome, known bool) {
	n, ok := cond[0].Cmd.(*syntax.BinaryCmd)
	if ok && len(cond) == 1 && (n.Op == syntax.AndStmt || n.Op == syntax.OrStmt) {
		x, known := s.holds([]*syntax.Stmt{n.X})
		if known && x.yes == (n.Op == syntax.OrStmt) {
			x.yes = x.yes != cond[0].Negated
			return x, true
		}
	}
	return s.known.evaluate(cond, input{})
}

// matches reports whether a text matches a pattern of case, if that is known.
func (v variables) matches(text string, w *syntax.Word) (yes, known bool) {
	if u := v.usesOf(w); !u.known {
		return false, false
	}
	of, err := expand.Pattern(v.config(), w)
	if err != nil {
		return false, false
	}
	expression, err := pattern.Regexp(of, pattern.EntireString)
	if err != nil {
		return false, false
	}
	compiled, err := regexp.Compile(expression)
	return err == nil && compiled.MatchString(text), err == nil
}
