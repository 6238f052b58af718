package importer

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// wholeNumber matches what every shell reads as the same number: none with a leading zero, which is octal.
var wholeNumber = lazyregexp.New(`^-?(0|[1-9]\d{0,14})$`)

// mostNumber is the largest number that arithmetic of a script may give.
const mostNumber = 1 << 53

// number returns the value of an arithmetic expression of whole numbers and known variables; not ok if it has
// anything else. Without assigns it has no assignments either.
func (v variables) number(e syntax.ArithmExpr, assigns bool) (n int64, ok bool) {
	switch e := e.(type) {
	case *syntax.ParenArithm:
		return v.number(e.X, assigns)
	case *syntax.UnaryArithm:
		n, ok = v.unary(e, assigns)
	case *syntax.BinaryArithm:
		n, ok = v.binary(e, assigns)
	case *syntax.Word:
		text, known := v.value(e)
		if name := e.Lit(); syntax.ValidName(name) {
			text, known = v[name].Str, v[name].Kind == expand.String
		}
		n, _ = strconv.ParseInt(text, 10, 64)
		return n, known && wholeNumber().MatchString(text)
	}
	return n, ok && n <= mostNumber && n >= -mostNumber
}

// calculatedText returns the value of a text that is arithmetic.
func (v variables) calculatedText(text string) (number string, ok bool) {
	e, err := syntax.NewParser().Arithmetic(strings.NewReader(text))
	if err != nil || e == nil {
		return "", false
	}
	n, ok := v.number(e, false)
	return strconv.FormatInt(n, 10), ok
}

func (v variables) unary(e *syntax.UnaryArithm, assigns bool) (n int64, ok bool) {
	n, ok = v.number(e.X, assigns)
	name, isWord := e.X.(*syntax.Word)
	switch e.Op {
	case syntax.Inc, syntax.Dec:
		if !ok || !assigns || !isWord || !syntax.ValidName(name.Lit()) {
			return 0, false
		}
		next := n + 1
		if e.Op == syntax.Dec {
			next = n - 1
		}
		v.set(name.Lit(), strconv.FormatInt(next, 10), true)
		if e.Post {
			return n, true
		}
		return next, true
	case syntax.Plus:
		return n, ok
	case syntax.Minus:
		return -n, ok
	case syntax.Not:
		return oneIf(n == 0), ok
	}
	return 0, false
}

func (v variables) binary(e *syntax.BinaryArithm, assigns bool) (n int64, ok bool) {
	if op := e.Op.String(); strings.HasSuffix(op, "=") && !comparison().MatchString(op) {
		return v.assignment(e, strings.TrimSuffix(op, "="), assigns)
	}
	x, ok := v.number(e.X, assigns)
	if !ok {
		return 0, false
	}
	switch e.Op {
	case syntax.TernQuest:
		arms, is := e.Y.(*syntax.BinaryArithm)
		if !is {
			return 0, false
		}
		if x != 0 {
			return v.number(arms.X, assigns)
		}
		return v.number(arms.Y, assigns)
	case syntax.AndArit, syntax.OrArit:
		if (x != 0) == (e.Op == syntax.OrArit) {
			return oneIf(x != 0), true
		}
		y, ok := v.number(e.Y, assigns)
		return oneIf(y != 0), ok
	}
	y, ok := v.number(e.Y, assigns)
	if !ok {
		return 0, false
	}
	return calculated(e.Op.String(), x, y)
}

// assignment evaluates NAME = Y, or NAME op= Y.
func (v variables) assignment(e *syntax.BinaryArithm, op string, assigns bool) (n int64, ok bool) {
	name, isWord := e.X.(*syntax.Word)
	if !assigns || !isWord || !syntax.ValidName(name.Lit()) {
		return 0, false
	}
	n, ok = v.number(e.Y, assigns)
	if op != "" && ok {
		var x int64
		if x, ok = v.number(e.X, assigns); ok {
			n, ok = calculated(op, x, n)
		}
	}
	if ok = ok && n <= mostNumber && n >= -mostNumber; ok {
		v.set(name.Lit(), strconv.FormatInt(n, 10), true)
	}
	return n, ok
}

// calculated is the value of an operator with two operands; not ok if it is too large or not known here.
func calculated(op string, x, y int64) (n int64, ok bool) {
	switch op {
	case "+":
		return x + y, true
	case "-":
		return x - y, true
	case "*":
		return x * y, x == 0 || (x*y)/x == y
	case "/", "%":
		switch {
		case y == 0:
			return 0, false
		case op == "%":
			return x % y, true
		}
		return x / y, true
	case "**":
		n, ok = 1, y >= 0 && y <= 64
		for i := int64(0); ok && i < y; i++ {
			n, ok = calculated("*", n, x)
		}
		return n, ok
	case "<<":
		ok = y >= 0 && y < 60 && x >= 0
		return x << uint64(y), ok && x>>(60-y) == 0
	case ">>":
		return x >> uint64(y), y >= 0 && y < 64
	case "==":
		return oneIf(x == y), true
	case "!=":
		return oneIf(x != y), true
	case "<":
		return oneIf(x < y), true
	case ">":
		return oneIf(x > y), true
	case "<=":
		return oneIf(x <= y), true
	case ">=":
		return oneIf(x >= y), true
	case "&":
		return x & y, true
	case "|":
		return x | y, true
	case "^":
		return x ^ y, true
	case ",":
		return y, true
	}
	return 0, false
}

func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
