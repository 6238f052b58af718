package importer

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// counts reports whether a loop is over numbers of passes of a loop in it.
func (s *script) counts(n *syntax.ForClause) (found bool) {
	iter, ok := n.Loop.(*syntax.WordIter)
	for _, stmt := range n.Do {
		syntax.Walk(stmt, func(in syntax.Node) bool {
			inner, isLoop := in.(*syntax.ForClause)
			found = found || ok && isLoop && s.countedBy(inner, iter.Name.Value)
			return true
		})
	}
	return found
}

// countedBy reports whether a variable is the number of passes of a loop.
func (s *script) countedBy(n *syntax.ForClause, name string) bool {
	switch l := n.Loop.(type) {
	case *syntax.WordIter:
		return len(l.Items) == 1 && mentions(l.Items[0], name)
	case *syntax.CStyleLoop:
		return l.Cond != nil && mentions(&syntax.ArithmExp{X: l.Cond}, name) && s.repeats(n)
	}
	return false
}

// repeats reports whether a loop over values does the same for each, also what it waits for.
func (s *script) repeats(n *syntax.ForClause) bool {
	name := ""
	switch l := n.Loop.(type) {
	case *syntax.WordIter:
		name = l.Name.Value
	case *syntax.CStyleLoop:
		init, ok := l.Init.(*syntax.BinaryArithm)
		if !ok || init.Op != syntax.Assgn {
			return false
		}
		w, _ := init.X.(*syntax.Word)
		name = litOf(w)
	}
	_, sometimes := s.waits(&syntax.Block{Stmts: n.Do}, mostWaiting)
	return name != "" && !s.exports(name) && !sometimes && !s.inBody(n.Do, mostCalls, func(n syntax.Node) bool {
		return mentions(n, name) || carries(n)
	})
}

// inBody reports whether statements, or functions that they call, have what is searched.
func (s *script) inBody(all []*syntax.Stmt, depth int, has func(syntax.Node) bool) (found bool) {
	for _, stmt := range all {
		found = found || has(stmt)
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if n, ok := n.(*syntax.CallExpr); ok && len(n.Args) > 0 && depth > 0 && !found {
				if f := s.functions[n.Args[0].Lit()]; f != nil {
					found = s.inBody([]*syntax.Stmt{f.decl.Body}, depth-1, has)
				}
			}
			return !found
		})
	}
	return found
}

// carries reports whether commands give a variable a value that follows from the one before, as a counter, so that they
// are others when they run again.
func carries(in syntax.Node) (found bool) {
	syntax.Walk(in, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			found = found || n.Append || n.Name != nil && n.Value != nil && mentions(n.Value, n.Name.Value)
		case *syntax.UnaryArithm:
			found = found || n.Op == syntax.Inc || n.Op == syntax.Dec
		case *syntax.BinaryArithm:
			op := n.Op.String()
			found = found || strings.HasSuffix(op, "=") && op != "=" && !comparison().MatchString(op)
		case *syntax.LetClause:
			found = true
		case *syntax.CallExpr:
			found = found || len(n.Args) > 0 && n.Args[0].Lit() == "shift"
		case *syntax.CStyleLoop:
			return false // which begins anew
		}
		return !found
	})
	return found
}

// mentions reports whether a node uses a variable.
func mentions(in syntax.Node, name string) (found bool) {
	syntax.Walk(in, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			found = found || n.Param != nil && n.Param.Value == name
			found = found || (n.Index != nil || n.Slice != nil) && hasName(n, name)
		case *syntax.Assign:
			found = found || n.Naked && n.Name != nil && n.Name.Value == name // export NAME
		case *syntax.SglQuoted:
			found = found || strings.Contains(n.Value, "$"+name) || strings.Contains(n.Value, "${"+name) // of eval
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.LetClause:
			found = found || hasName(n, name)
		}
		return true
	})
	return found
}

// hasName reports whether arithmetic in a node has a name.
func hasName(in syntax.Node, name string) (found bool) {
	syntax.Walk(in, func(n syntax.Node) bool {
		l, ok := n.(*syntax.Lit)
		found = found || ok && l.Value == name
		return true
	})
	return found
}
