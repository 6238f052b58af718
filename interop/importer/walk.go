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

func (s *script) read(text string, depth int) error {
	if s.known == nil {
		s.known = variables{}
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%sline %d, column %d: %s", s.prefix(), wrong.Pos.Line(), wrong.Pos.Col(), wrong.Text)
	}
	if err != nil {
		return fmt.Errorf("%s%w", s.prefix(), err)
	}
	return s.walk(text, f, depth)
}

// walk reads the commands below a node in order, each pass of a loop by itself.
func (s *script) walk(text string, top syntax.Node, depth int) (err error) {
	syntax.Walk(top, func(n syntax.Node) bool {
		if n == nil || err != nil || n == top && isBranch(n) {
			return n != nil && err == nil
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			if s.stmtOf == nil {
				s.stmtOf = map[syntax.Command]*syntax.Stmt{}
			}
			if s.stmtOf[n.Cmd] = n; n.Background {
				s.background = append(s.background, n)
			}
		case *syntax.ForClause:
			err = s.loop(text, n, depth)
			return false
		case *syntax.DeclClause:
			s.declare(text, n)
			return false
		case *syntax.CallExpr:
			s.known.forgetBy(n)
			if len(n.Args) > 0 && s.functions[n.Args[0].Lit()] {
				maps.Copy(s.known, s.ofFunctions)
			}
			err = s.call(text, n, depth)
		case *syntax.ArithmExp:
			s.known.forgetIn(n)
		case *syntax.ArithmCmd, *syntax.LetClause:
			s.known.forgetIn(n)
			return false
		}
		if isBranch(n) {
			err = s.branch(text, n, depth)
			return false
		}
		return err == nil
	})
	return err
}

// loop reads the passes of a loop whose values are known; otherwise its body once.
func (s *script) loop(text string, n *syntax.ForClause, depth int) error {
	s.loops = append(s.loops, n)
	defer func() { s.loops = s.loops[:len(s.loops)-1] }()
	name, values, ok := s.passes(n)
	if !ok {
		if s.any && repeats(n) {
			f := s.tell(n, strings.TrimRight(text[n.Pos().Offset():n.DoPos.Offset()], "; \n"),
				"nothing: it only repeats, and weir repeats launches itself")
			defer func(before int) {
				if slices.ContainsFunc(s.lines[before:], func(l Line) bool { return l.tool == curl }) {
					f.Became = "the number of requests"
				}
			}(len(s.lines))
		}
		if repeats(n) {
			defer func(outer int) { s.times = outer }(s.times)
			s.times = max(1, s.times) * s.count(n)
		}
		name, values = "", []string{""}
		s.known.forgetIn(n)
		if iter, ok := n.Loop.(*syntax.WordIter); ok {
			for _, w := range iter.Items {
				if err := s.walk(text, w, depth); err != nil {
					return err
				}
			}
		}
	}
	for _, v := range values {
		if s.commands++; s.commands > mostCommands {
			return fmt.Errorf("%sits loops run more than %d commands", s.prefix(), mostCommands)
		}
		if name != "" {
			s.known.set(name, v, true)
		}
		for _, stmt := range n.Do {
			if err := s.walk(text, stmt, depth); err != nil {
				return err
			}
		}
	}
	if !ok {
		s.known.forgetIn(n)
	}
	return nil
}

// count returns how often a loop repeats its body; 1 if that is not known.
func (s *script) count(n *syntax.ForClause) (times int) {
	iter, ok := n.Loop.(*syntax.WordIter)
	for i := 0; ok && i < len(iter.Items); i++ {
		words, known := s.known.fields(iter.Items[i])
		if !known {
			return 1
		}
		times += len(words)
	}
	return max(1, times)
}

// inBackground reports whether a command is one of a statement in the background.
func (s *script) inBackground(n syntax.Node) bool {
	return slices.ContainsFunc(s.background, func(of *syntax.Stmt) bool {
		return n.Pos().Offset() >= of.Pos().Offset() && n.End().Offset() <= of.End().Offset()
	})
}

// isBranch reports whether a node's commands may run or not, or elsewhere.
func isBranch(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause, *syntax.Subshell, *syntax.FuncDecl:
		return true
	case *syntax.BinaryCmd:
		return n.Op == syntax.AndStmt || n.Op == syntax.OrStmt
	}
	return false
}

// branch reads the commands of a branch. The variables that it assigns are not known afterwards. Those of
// functions and loops are not known in it either.
func (s *script) branch(text string, n syntax.Node, depth int) error {
	before := maps.Clone(s.known)
	switch n := n.(type) {
	case *syntax.FuncDecl:
		if s.functions == nil {
			s.functions, s.ofFunctions = map[string]bool{}, variables{}
		}
		s.functions[n.Name.Value] = true
		s.ofFunctions.forgetIn(n)
		s.known = elsewhere()
	case *syntax.WhileClause:
		s.known.forgetIn(n)
	}
	err := s.walk(text, n, depth)
	s.known = before
	s.known.forgetIn(n)
	return err
}

// declare reads export, declare, local and readonly.
func (s *script) declare(text string, n *syntax.DeclClause) {
	for _, a := range n.Args {
		s.assign(a)
	}
	if n.Variant.Value == "export" {
		s.export(text, n.Args)
		s.tell(n, text[n.Pos().Offset():n.End().Offset()], "variables of later lines")
	}
}

// assign keeps the value of an assignment, if it is known.
func (s *script) assign(a *syntax.Assign) (known bool) {
	if a.Name == nil || a.Naked {
		return false
	}
	if a.Array != nil && !a.Append {
		return s.known.setArray(a.Name.Value, a.Array.Elems)
	}
	v, known := s.known.value(a.Value)
	known = known && a.Array == nil && a.Index == nil && !a.Append
	s.known.set(a.Name.Value, v, known)
	return known
}

// export keeps variables for later calls; one without a plain value is removed.
func (s *script) export(text string, all []*syntax.Assign) {
	for _, a := range all {
		if a.Name == nil || a.Naked || a.Array != nil || a.Index != nil || a.Append {
			continue
		}
		v := s.word(text, a.Value)
		if unexpanded(v) {
			s.notes = append(s.notes, Note{"variable " + a.Name.Value + ofShell(v), true})
			continue
		}
		same := func(e Variable) bool { return e.Name == a.Name.Value }
		s.exported = slices.DeleteFunc(slices.Clone(s.exported), same)
		s.exported = append(s.exported, Variable{Name: a.Name.Value, Value: v})
	}
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
		fate.Line = int(n.Pos().Line())
		for k := range inner.lines {
			if again && inner.lines[k].fate == fate {
				inner.lines[k].fate = earlier[i]
			}
		}
	}
	s.lines = append(s.lines, inner.lines...)
}
