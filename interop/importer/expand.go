package importer

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Limits of what loops and variables of a script may become.
const (
	mostCommands = 4096    // in all passes of loops
	mostItems    = 1024    // values of a loop
	mostValue    = 1 << 16 // bytes of a variable
)

// variables are shell variables and arrays. One that is not set has a value that only a shell knows; one
// without an entry was assigned nowhere.
type variables map[string]expand.Variable

// others is the entry of a place where variables without an entry may be assigned too: a function's body.
const others = ""

// elsewhere are the variables of such a place.
func elsewhere() variables { return variables{others: {}} }

// unknown reports whether a variable may have a value that only a shell knows.
func (v variables) unknown(name string) bool {
	known, ok := v[name]
	if !ok {
		_, ok = v[others]
	}
	return ok && !known.Set
}

// forget makes the value of a variable unknown.
func (v variables) forget(name string) { v[name] = expand.Variable{} }

// Get and Each make variables an environment of package expand.
func (v variables) Get(name string) expand.Variable { return v[name] }

func (v variables) Each(yield func(string, expand.Variable) bool) {
	for name := range v {
		if !yield(name, v[name]) {
			return
		}
	}
}

// set keeps the value of an assignment, or forgets the variable if only a shell knows the value.
func (v variables) set(name, text string, known bool) {
	if v.forget(name); known && len(text) <= mostValue {
		v[name] = expand.Variable{Set: true, Kind: expand.String, Str: text}
	}
}

// setArray is set for an array.
func (v variables) setArray(name string, elements []*syntax.ArrayElem) (known bool) {
	v.forget(name)
	var list []string
	for _, e := range elements {
		words, ok := v.fields(e.Value)
		if !ok || e.Index != nil || len(list)+len(words) > mostItems {
			return false
		}
		list = append(list, words...)
	}
	v[name] = expand.Variable{Set: true, Kind: expand.Indexed, List: list}
	return true
}

// fields returns the words that a shell makes of a word; not ok if it has something else than known
// variables, defaults and calls of seq.
func (v variables) fields(w *syntax.Word) (words []string, ok bool) {
	if w == nil || !v.knows(w) {
		return nil, false
	}
	words, err := expand.Fields(v.config(), w)
	return words, err == nil && len(words) <= mostItems
}

// value returns the value that an assignment of a word gives.
func (v variables) value(w *syntax.Word) (text string, ok bool) {
	if w == nil || !v.knows(w) {
		return "", w == nil
	}
	text, err := expand.Literal(v.config(), w)
	return text, err == nil
}

func (v variables) config() *expand.Config {
	return &expand.Config{Env: v, NoUnset: true, CmdSubst: func(to io.Writer, n *syntax.CmdSubst) error {
		numbers, _ := v.seq(n)
		_, err := fmt.Fprintln(to, strings.Join(numbers, "\n"))
		return err
	}}
}

// Ranges of brace expansion: any, and one of whole numbers.
var (
	braceRange   = lazyregexp.New(`\{[^{}]*\.\.[^{}]*\}`)
	rangeNumbers = lazyregexp.New(`^\{(-?\d{1,5})\.\.(-?\d{1,5})(\.\.-?\d{1,5})?\}$`)
)

// knows reports whether a word can be expanded without running anything.
func (v variables) knows(w *syntax.Word) bool {
	known := true
	ranges := 0
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			for _, r := range braceRange().FindAllString(n.Value, -1) {
				ranges++
				known = known && ranges == 1 && shortRange(r)
			}
		case *syntax.ParamExp:
			known = known && v.knowsParameter(n)
		case *syntax.CmdSubst:
			_, ok := v.seq(n)
			known = known && ok
			return false
		case *syntax.ArithmExp:
			known = known && v.knowsArithmetic(n.X)
			return false
		case *syntax.ProcSubst, *syntax.ExtGlob:
			known = false
		}
		return known
	})
	return known
}

// knowsArithmetic reports whether an expression has only whole numbers, known variables and + - * / %.
func (v variables) knowsArithmetic(e syntax.ArithmExpr) bool {
	switch e := e.(type) {
	case *syntax.ParenArithm:
		return v.knowsArithmetic(e.X)
	case *syntax.BinaryArithm:
		switch e.Op {
		case syntax.Add, syntax.Sub, syntax.Mul, syntax.Quo, syntax.Rem:
			return v.knowsArithmetic(e.X) && v.knowsArithmetic(e.Y)
		}
	case *syntax.Word:
		text, ok := v.value(e)
		if name := e.Lit(); syntax.ValidName(name) {
			text, ok = v[name].Str, true
		}
		return ok && wholeNumber().MatchString(text)
	}
	return false
}

var wholeNumber = lazyregexp.New(`^-?(0|[1-9]\d{0,8})$`)

// shortRange reports whether a range of brace expansion has at most mostItems numbers.
func shortRange(text string) bool {
	m := rangeNumbers().FindStringSubmatch(text)
	if m == nil {
		return false
	}
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	return max(from-to, to-from) < mostItems
}

// knowsParameter reports whether a parameter is a known variable, or has a default.
func (v variables) knowsParameter(n *syntax.ParamExp) bool {
	if n.Param == nil || n.Excl || n.Length || n.Width || n.IsSet || n.Slice != nil || n.Repl != nil || n.Names != 0 {
		return false
	}
	known := v[n.Param.Value]
	switch index, _ := n.Index.(*syntax.Word); {
	case n.Index != nil:
		return n.Exp == nil && known.Kind == expand.Indexed && index != nil &&
			(index.Lit() == "@" || index.Lit() == "*")
	case n.Exp == nil:
		return known.Kind == expand.String
	}
	named := syntax.ValidName(n.Param.Value) || isCount(n.Param.Value)
	return named && !v.unknown(n.Param.Value) && known.Kind != expand.Indexed &&
		(n.Exp.Op == syntax.DefaultUnset || n.Exp.Op == syntax.DefaultUnsetOrNull)
}

// seq returns the numbers of a command substitution that calls seq with known whole numbers.
func (v variables) seq(n *syntax.CmdSubst) (numbers []string, ok bool) {
	if len(n.Stmts) != 1 || len(n.Stmts[0].Redirs) > 0 || n.Stmts[0].Background {
		return nil, false
	}
	call, ok := n.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) < 2 || len(call.Args) > 4 || call.Args[0].Lit() != "seq" {
		return nil, false
	}
	var ends []int
	for _, w := range call.Args[1:] {
		text, known := v.value(w)
		number, err := strconv.Atoi(text)
		if !known || err != nil || number > 1<<30 || number < -1<<30 {
			return nil, false
		}
		ends = append(ends, number)
	}
	from, by, to := 1, 1, ends[len(ends)-1]
	if len(ends) > 1 {
		from = ends[0]
	}
	if len(ends) > 2 {
		by = ends[1]
	}
	if by == 0 || (to-from)/by >= mostItems {
		return nil, false
	}
	for i := from; by > 0 && i <= to || by < 0 && i >= to; i += by {
		numbers = append(numbers, strconv.Itoa(i))
	}
	return numbers, true
}

// passes returns the values of a loop whose body depends on its variable, if all are known. A loop that
// says how many commands run together, or only repeats them, is read once.
func (s *script) passes(n *syntax.ForClause) (name string, values []string, ok bool) {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select || len(iter.Items) == 0 {
		return "", nil, false
	}
	name = iter.Name.Value
	counts := false
	for _, stmt := range n.Do {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if n, ok := n.(*syntax.ForClause); ok {
				inner, ok := n.Loop.(*syntax.WordIter)
				counts = counts || ok && len(inner.Items) == 1 && mentions(inner.Items[0], name)
			}
			return true
		})
	}
	if counts || repeats(n) {
		return "", nil, false
	}
	for _, w := range iter.Items {
		words, ok := s.known.fields(w)
		if !ok || len(values)+len(words) > mostItems {
			return "", nil, false
		}
		values = append(values, words...)
	}
	return name, values, true
}

// repeats reports whether a loop over values does the same for each.
func repeats(n *syntax.ForClause) bool {
	iter, ok := n.Loop.(*syntax.WordIter)
	return ok && !slices.ContainsFunc(n.Do, func(s *syntax.Stmt) bool { return mentions(s, iter.Name.Value) })
}

// mentions reports whether a node uses a variable.
func mentions(in syntax.Node, name string) (found bool) {
	syntax.Walk(in, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			found = found || n.Param != nil && n.Param.Value == name
		case *syntax.ArithmExp:
			syntax.Walk(n.X, func(n syntax.Node) bool {
				l, ok := n.(*syntax.Lit)
				found = found || ok && l.Value == name
				return true
			})
		}
		return true
	})
	return found
}

var comparison = lazyregexp.New(`^[=!<>]=$`)

// forgetNames forgets the variables that a node names.
func (v variables) forgetNames(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if l, ok := n.(*syntax.Lit); ok {
			v.forget(l.Value)
		}
		return true
	})
}

// forgetIn forgets the variables that a node may assign, as the other branch of a condition or a loop that
// is read once.
func (v variables) forgetIn(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				v.forget(n.Name.Value)
			}
		case *syntax.WordIter:
			v.forget(n.Name.Value)
		case *syntax.BinaryArithm:
			if op := n.Op.String(); strings.HasSuffix(op, "=") && !comparison().MatchString(op) {
				v.forgetNames(n.X)
			}
		case *syntax.UnaryArithm:
			v.forgetNames(n.X) // ++ or another operator
		case *syntax.CallExpr:
			v.forgetBy(n)
		}
		return true
	})
}

// forgetBy forgets the variables that a command of the shell may assign.
func (v variables) forgetBy(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	switch args := n.Args[1:]; n.Args[0].Lit() {
	case "read", "unset", "mapfile", "readarray", "getopts":
		for _, w := range args {
			v.forget(w.Lit())
		}
	case "source", ".", "eval":
		clear(v)
		v.forget(others)
	case "shift", "set":
		ends := func(w *syntax.Word) bool { return w.Lit() == "--" }
		if n.Args[0].Lit() == "shift" || slices.ContainsFunc(args, ends) { // the script's own arguments
			for i := range 9 {
				v.forget(strconv.Itoa(i + 1))
			}
		}
	}
}
