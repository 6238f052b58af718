package importer

import (
	"maps"
	"regexp"
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// choose reads the branch of if that runs, or all if that is not known. What follows from a default does not choose:
// who runs the script may give another value.
func (s *script) choose(text string, n *syntax.IfClause, depth int) error {
	if err := s.walkAll(text, n.Cond, depth); err != nil {
		return err
	}
	if len(n.Cond) == 0 { // else
		return s.walkAll(text, n.Then, depth)
	}
	yes, known, assumed := s.decides(n.Cond)
	otherwise := func() error {
		if n.Else == nil {
			return nil
		}
		return s.choose(text, n.Else, depth)
	}
	switch {
	case known && yes && !assumed:
		return s.walkAll(text, n.Then, depth)
	case known && !assumed:
		return otherwise()
	}
	s.tellGate(n, n.Cond, n.Then)
	err := s.maybe(n, func() error { return s.walkAll(text, n.Then, depth) }, otherwise)
	if known && err == nil {
		if chosen := 0; yes {
			s.adopt(s.after[chosen])
		} else {
			s.adopt(s.after[1])
		}
	}
	return err
}

// decides is holds for a branch. What follows from a default, or is so for a script without arguments, is assumed.
func (s *script) decides(cond []*syntax.Stmt) (yes, known, assumed bool) {
	if o, known := s.holds(cond); known {
		for _, c := range cond {
			assumed = assumed || s.known.assumes(c)
		}
		return o.yes, known, assumed
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
	return o.yes, known, known
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

// cases reads the branch of case that runs, or all if that is not known.
func (s *script) cases(text string, n *syntax.CaseClause, depth int) error {
	if err := s.walk(text, n.Word, depth); err != nil {
		return err
	}
	value, known := s.known.value(n.Word)
	assumed, chosen := s.known.assumes(n.Word), -1
	var arms []func() error
	for _, item := range n.Items {
		arm := func() error { return s.walkAll(text, item.Stmts, depth) }
		for _, w := range item.Patterns {
			matches, ok := s.known.matches(value, w)
			known = known && ok && item.Op == syntax.Break
			switch {
			case known && matches && !assumed:
				return arm()
			case known && matches && chosen < 0:
				chosen = len(arms)
			}
		}
		arms = append(arms, arm)
	}
	if known && !assumed {
		return nil
	}
	err := s.maybe(n, arms...)
	if chosen >= 0 && err == nil {
		s.adopt(s.after[chosen])
	}
	return err
}

// either reads two commands joined by && or ||, or a pipe.
func (s *script) either(text string, n *syntax.BinaryCmd, depth int) error {
	if n.Op != syntax.AndStmt && n.Op != syntax.OrStmt {
		return s.pipe(text, n, depth)
	}
	yes, known, assumed := s.decides([]*syntax.Stmt{n.X})
	runs := yes == (n.Op == syntax.AndStmt)
	if err := s.walk(text, n.X, depth); err != nil || known && !assumed && !runs {
		return err
	}
	second := func() error { return s.walk(text, n.Y, depth) }
	if known && !assumed {
		return second()
	}
	s.tellGate(n, []*syntax.Stmt{n.X}, []*syntax.Stmt{n.Y})
	before := maps.Clone(s.known)
	err := s.maybe(n.Y, second)
	switch {
	case !known || err != nil:
	case runs:
		s.adopt(s.after[0])
	default:
		s.adopt(before)
	}
	return err
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
