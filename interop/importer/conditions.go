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
		s.adopt(s.after[oneIf(!yes)])
	}
	return err
}

// decides is holds for a branch. What follows from a default, or is so for a script without arguments, is assumed.
func (s *script) decides(cond []*syntax.Stmt) (yes, known, assumed bool) {
	if yes, known = s.holds(cond); known {
		for _, c := range cond {
			assumed = assumed || s.known.assumes(c)
		}
		return yes, known, assumed
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
	yes, known = s.holds(cond)
	s.known = before
	return yes, known, known
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

// holds returns whether a condition is true, if that is known.
func (s *script) holds(cond []*syntax.Stmt) (yes, known bool) {
	if len(cond) != 1 || cond[0].Background || cond[0].Coprocess {
		return false, false
	}
	switch n := cond[0].Cmd.(type) {
	case *syntax.CallExpr:
		if len(n.Assigns) == 0 && len(cond[0].Redirs) == 0 {
			yes, known = s.known.test(n.Args)
		}
	case *syntax.ArithmCmd:
		var number int64
		number, known = s.known.number(n.X, false)
		yes = number != 0
	case *syntax.TestClause:
		yes, known = s.known.compares(n.X)
	case *syntax.BinaryCmd:
		x, first := s.holds([]*syntax.Stmt{n.X})
		y, second := s.holds([]*syntax.Stmt{n.Y})
		switch {
		case n.Op == syntax.AndStmt:
			yes, known = x && y, first && second || first && !x
		case n.Op == syntax.OrStmt:
			yes, known = x || y, first && second || first && x
		}
	}
	return yes != cond[0].Negated, known
}

// test evaluates [ and test, true and false.
func (v variables) test(args []*syntax.Word) (yes, known bool) {
	var words []string
	for _, w := range args {
		fields, ok := v.fields(w)
		if !ok {
			return false, false
		}
		words = append(words, fields...)
	}
	if len(words) == 0 {
		return false, false
	}
	switch name := words[0]; {
	case name == "true" || name == ":" || name == "false":
		return name != "false", len(words) == 1
	case name == "[" && words[len(words)-1] == "]":
		words = words[:len(words)-1]
	case name != "test":
		return false, false
	}
	words = words[1:]
	inverted := len(words) > 2 && words[0] == "!"
	if inverted {
		words = words[1:]
	}
	switch len(words) {
	case 2:
		yes, known = unaryTest(words[0], words[1])
	case 3:
		yes, known = binaryTest(words[1], words[0], words[2])
	}
	return yes != inverted, known
}

func unaryTest(op, of string) (yes, known bool) {
	switch op {
	case "-z":
		return of == "", true
	case "-n":
		return of != "", true
	}
	return false, false
}

func binaryTest(op, a, b string) (yes, known bool) {
	switch op {
	case "=", "==":
		return a == b, true
	case "!=":
		return a != b, true
	}
	if !wholeNumber().MatchString(a) || !wholeNumber().MatchString(b) {
		return false, false
	}
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	as := map[string]string{"-eq": "==", "-ne": "!=", "-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">="}
	n, known := calculated(as[op], x, y)
	return n != 0, known
}

// compares evaluates the expression of [[ ]].
func (v variables) compares(e syntax.TestExpr) (yes, known bool) {
	switch e := e.(type) {
	case *syntax.ParenTest:
		return v.compares(e.X)
	case *syntax.UnaryTest:
		if e.Op == syntax.TsNot {
			yes, known = v.compares(e.X)
			return !yes, known
		}
		if w, ok := e.X.(*syntax.Word); ok {
			text, ok := v.value(w)
			yes, known = unaryTest(e.Op.String(), text)
			return yes, known && ok
		}
	case *syntax.BinaryTest:
		if e.Op == syntax.AndTest || e.Op == syntax.OrTest {
			x, first := v.compares(e.X)
			y, second := v.compares(e.Y)
			if e.Op == syntax.AndTest {
				return x && y, first && second || first && !x || second && !y
			}
			return x || y, first && second || first && x || second && y
		}
		a, is := e.X.(*syntax.Word)
		b, also := e.Y.(*syntax.Word)
		if !is || !also {
			return false, false
		}
		x, ok := v.value(a)
		if op := e.Op.String(); ok && (op == "=" || op == "==" || op == "!=") {
			yes, known = v.matches(x, b)
			return yes != (op == "!="), known
		}
		y, also := v.value(b)
		if ok && also && e.Op == syntax.TsReMatch && !quotes(b) {
			compiled, err := regexp.Compile(y)
			return err == nil && compiled.MatchString(x), err == nil
		}
		if !ok || !also || !strings.HasPrefix(e.Op.String(), "-") {
			return false, false
		}
		return binaryTest(e.Op.String(), x, y)
	}
	return false, false
}

// quotes reports whether a word has a part that is no pattern: in quotes, or behind a backslash.
func quotes(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		l, isLit := part.(*syntax.Lit)
		_, isVariable := part.(*syntax.ParamExp)
		return !isVariable && (!isLit || strings.Contains(l.Value, `\`))
	})
}

// matches reports whether a text matches a pattern of case or [[ ]], if that is known.
func (v variables) matches(text string, w *syntax.Word) (yes, known bool) {
	if !v.knows(w) {
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
