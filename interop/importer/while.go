package importer

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// while reads the passes of while and until: those over the lines of a known text, or while a known condition holds;
// otherwise its body once.
func (s *script) while(text string, n *syntax.WhileClause, depth int) error {
	defer s.enterLoop()()
	lines, sleeps := len(s.lines), len(s.sleeps)
	before := s.known
	s.known = maps.Clone(before)
	if err := s.walkAll(text, n.Cond, depth); err != nil {
		return err
	}
	s.known = before
	rows, reads, assumed := s.rowsOf(n)
	isRead := reads != nil
	passes, done, err := s.attempt(n, func(pass int) (again, known bool) {
		if isRead {
			if pass == len(rows) {
				return false, true
			}
			return true, s.known.setBy(reads, input{rows[pass], true}, assumed)
		}
		o, known := s.holds(n.Cond)
		if known {
			s.known.take(o)
		}
		return o.yes != n.Until, known && (!always(n.Cond) || s.leaves(n.Do))
	}, text, n.Do, depth)
	if done || err != nil {
		s.known.forgetIn(&syntax.Block{Stmts: n.Cond})
		s.paced(s.lines[lines:], s.sleeps[sleeps:], passes, passes)
		return err
	}
	before = maps.Clone(s.known)
	s.known.forgetIn(n)
	err = s.maybe(n, func() error {
		s.unsureLoop = s.unsure
		defer func(outer string) { s.lasts = outer }(s.lasts)
		if seconds := s.lastsFor(n); seconds > 0 {
			s.lasts = strconv.FormatInt(seconds, 10) + "s"
		}
		err := s.inLoop(0, &syntax.Block{Stmts: n.Do}, func() error { return s.walkAll(text, n.Do, depth) })
		s.leftLoop()
		s.paced(s.lines[lines:], s.sleeps[sleeps:], 1, 1)
		return err
	})
	if s.readsArguments(n) {
		s.known = before.withDefaults(s.known)
	}
	return err
}

// readsArguments reports whether a loop reads the arguments of the script, which are not known.
func (s *script) readsArguments(n *syntax.WhileClause) (does bool) {
	if s.known["#"].Set {
		return false
	}
	for _, c := range n.Cond {
		syntax.Walk(c, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				does = does || len(n.Args) > 0 && n.Args[0].Lit() == "getopts"
			case *syntax.ParamExp:
				does = does || n.Param != nil && slices.Contains([]string{"#", "1", "@", "*"}, n.Param.Value)
			}
			return true
		})
	}
	return does
}

// withDefaults returns the variables for a script without arguments: those that its options change have the values
// from before, which follow from that.
func (v variables) withDefaults(after variables) variables {
	for name := range after {
		if before, ok := v[name]; ok && before.Set && !after[name].Set {
			v.assume(name, true)
		} else if !ok && slices.Contains(argumentNames(), name) {
			v.forget(name)
		}
	}
	return v
}

// always reports whether a condition never changes.
func always(cond []*syntax.Stmt) bool {
	call, ok := cond[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1
}

// leaves reports whether a body has a command that leaves its loop.
func (s *script) leaves(body []*syntax.Stmt) bool {
	return s.finds("", blockOf(body), 0, func(_ string, call *syntax.CallExpr) bool {
		to := jumps[call.Args[0].Lit()]
		return to != onward && to != continues
	})
}

// rowsOf returns the lines of a known text that a loop reads, while read NAME…, and the command that reads one.
func (s *script) rowsOf(n *syntax.WhileClause) (rows []string, reads *syntax.Stmt, assumed bool) {
	stmt := s.stmtOf[n]
	if n.Until || len(n.Cond) != 1 || stmt == nil {
		return nil, nil, false
	}
	cond := n.Cond[0]
	if or, is := cond.Cmd.(*syntax.BinaryCmd); is && or.Op == syntax.OrStmt { // || [ -n "$NAME" ], of a last line
		cond = or.X
	}
	call, is := cond.Cmd.(*syntax.CallExpr)
	if !is || cond.Negated || len(cond.Redirs) > 0 || len(call.Args) == 0 || call.Args[0].Lit() != "read" {
		return nil, nil, false
	}
	text, known, assumed := s.given(stmt)
	other := slices.ContainsFunc(call.Args, func(w *syntax.Word) bool { return w.Lit() == "-d" || w.Lit() == "-n" })
	rows = strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n")
	rows = rows[:len(rows)-1]
	if !known || other || !joinsNoLines(call, text) || len(rows) > mostItems {
		return nil, nil, false
	}
	return rows, &syntax.Stmt{Cmd: call}, assumed
}
