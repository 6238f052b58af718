package importer

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// choice says which branches of a condition run.
type choice struct {
	known   bool
	assumed bool // who runs the script may choose others
	visible bool // the script itself has the default from which it follows
	arms    []int
}

// branches are those of a condition.
type branches struct {
	at    syntax.Node
	of    syntax.Node // what chooses
	line  int
	tests bool // the branches run, or not, by a test
	arms  []func() error
	parts []syntax.Node // the commands of each
}

// branch reads the branches that run: those of the script's default if it has one, and all if that is not known.
func (s *script) branch(text string, b branches, c choice) error {
	if !c.known || c.assumed && !(c.visible && s.takesDefault(text, b, c.arms)) {
		return s.undecided(b, c)
	}
	defaults := s.known.defaultsIn(b.of)
	for _, i := range c.arms {
		if err := b.arms[i](); err != nil || s.jump != onward {
			return err
		}
	}
	if !c.assumed {
		return nil
	}
	changed := maps.Clone(s.known)
	changed.forgetIn(b.at)
	for name, v := range s.known {
		if v.Set && !changed[name].Set {
			s.known.assume(name, true)
		}
	}
	for i, part := range b.parts {
		if !slices.Contains(c.arms, i) && s.runsTool(text, part, mostCalls) {
			s.lose("line %d runs only with another value of %s than the script's default, and the scenario does not have it: "+
				"write that value into the script", s.lineOf(firstIn(part)), strings.Join(defaults, ", "))
		}
	}
	return nil
}

// firstIn is the first command of a part.
func firstIn(part syntax.Node) syntax.Node {
	first := part
	syntax.Walk(part, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && first == part {
			first = call
		}
		return first == part
	})
	return first
}

// takesDefault reports whether a default leads to what the script measures, not to its end, or to a text that says how
// to call it.
func (s *script) takesDefault(text string, b branches, chosen []int) bool {
	others, runs := 0, false
	for i, part := range b.parts {
		has := s.runsTool(text, part, mostCalls)
		if !slices.Contains(chosen, i) {
			if has {
				others++
			}
			continue
		}
		runs = runs || has
		if s.exitsIn(part, mostCalls) {
			return false
		}
	}
	return runs || others < 2
}

// runsTool reports whether commands, or functions that they call, are of a tool.
func (s *script) runsTool(text string, top syntax.Node, depth int) (found bool) {
	if top == nil {
		return false
	}
	syntax.Walk(top, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 || found {
			return !found
		}
		if f := s.functions[call.Args[0].Lit()]; f != nil {
			found = depth > 0 && s.runsTool(f.text, f.decl.Body, depth-1)
			return true
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, word(text, w))
		}
		t, at, taken := s.find(words)
		inner, _ := textArgument(words)
		found = s.mentioned(inner.text)
		if t != nil && !found {
			found = (&Line{tool: t, args: words[at+taken:]}).measuresNot() == ""
		}
		return true
	})
	return found
}

// exitsIn reports whether commands, or functions that they call, end the script.
func (s *script) exitsIn(top syntax.Node, depth int) (found bool) {
	if top == nil {
		return false
	}
	syntax.Walk(top, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				f := s.functions[n.Args[0].Lit()]
				found = found || n.Args[0].Lit() == "exit" || f != nil && depth > 0 && s.exitsIn(f.decl.Body, depth-1)
			}
		}
		return !found
	})
	return found
}

// undecided reads all branches, and tells of what they measure.
func (s *script) undecided(b branches, c choice) error {
	before := maps.Clone(s.known)
	with := make([][]string, len(b.arms))
	arms := slices.Clone(b.arms)
	for i, arm := range b.arms {
		arms[i] = func() error {
			from := len(s.lines)
			err := arm()
			for _, l := range s.lines[min(from, len(s.lines)):] {
				if n := strconv.Itoa(l.fate.Line); !slices.Contains(with[i], n) {
					with[i] = append(with[i], n)
				}
			}
			return err
		}
	}
	if err := s.maybe(b.at, arms...); err != nil {
		return err
	}
	with = slices.DeleteFunc(with, func(lines []string) bool { return lines == nil })
	switch all := slices.Concat(with...); {
	case len(with) == 0 || !b.tests:
	case len(with) == 1:
		s.lose("line %s runs only if the condition of line %d holds, which only the shell knows: the scenario has it",
			strings.Join(all, ", "), b.line)
	default:
		s.lose("lines %s are in branches of line %d, of which only the shell knows which one runs: the scenario has all",
			strings.Join(all, ", "), b.line)
	}
	switch {
	case !c.known:
	case len(c.arms) == 1:
		s.adopt(s.after[c.arms[0]])
	case len(c.arms) == 0:
		s.adopt(before)
	}
	return nil
}

// choose reads if.
func (s *script) choose(text string, n *syntax.IfClause, depth int) error {
	if len(n.Cond) == 0 { // else
		return s.walkAll(text, n.Then, depth)
	}
	yes, c := s.decides(n.Cond)
	if err := s.walkAll(text, n.Cond, depth); err != nil {
		return err
	}
	b := branches{at: n, of: &syntax.Block{Stmts: n.Cond}, line: s.lineOf(n.Cond[0]), tests: true}
	b.parts = []syntax.Node{&syntax.Block{Stmts: n.Then}, nil}
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
		c.known, c.visible = true, c.assumed && !asksHost(cond)
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

// asksHost reports whether a condition asks for a program.
func asksHost(cond []*syntax.Stmt) (found bool) {
	for _, c := range cond {
		syntax.Walk(c, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			found = found || ok && len(call.Args) > 0 && slices.Contains(asking, call.Args[0].Lit())
			return !found
		})
	}
	return found
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
		b.parts = append(b.parts, &syntax.Block{Stmts: item.Stmts})
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
