package importer

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// What arithmetic and tests need: the interpreter takes a text that is no number for 0.

// quotes reports whether a word has a part that is no pattern: in quotes, or behind a backslash.
func quotes(w *syntax.Word) bool {
	return w == nil || slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		l, isLit := part.(*syntax.Lit)
		_, isVariable := part.(*syntax.ParamExp)
		return !isVariable && (!isLit || strings.Contains(l.Value, `\`))
	})
}

// comparisons are the operators that compare numbers.
var comparisons = names("-eq|-ne|-lt|-le|-gt|-ge")

// numeric matches what a shell reads as a number: decimal, octal, hexadecimal, or BASE#NUMBER.
var numeric = lazyregexp.New(`^\s*[-+]?(?:0[xX][\da-fA-F]+|0[0-7]*|[1-9]\d{0,17}|\d\d?#[\w@]+)\s*$`)

// arithmetic adds an expression. Each operand has to be a number.
func (u *uses) arithmetic(e syntax.ArithmExpr) {
	switch e := e.(type) {
	case *syntax.ParenArithm:
		u.arithmetic(e.X)
	case *syntax.UnaryArithm:
		if u.arithmetic(e.X); e.Op == syntax.Inc || e.Op == syntax.Dec {
			u.target(e.X)
		}
	case *syntax.BinaryArithm:
		op := e.Op.String()
		if strings.HasSuffix(op, "=") && !comparison().MatchString(op) {
			if u.target(e.X); op == "=" {
				u.arithmetic(e.Y)
				u.own[e.X.(*syntax.Word).Lit()] = true
				return
			}
		}
		u.arithmetic(e.X)
		u.arithmetic(e.Y)
		if n, ok := u.of.number(e.Y, false); ok && (op == "<<" || op == ">>") {
			u.require(n >= 0 && n < 63) // else they take another number
		}
	case *syntax.Word:
		u.operand(e)
	case nil:
	default:
		u.require(false)
	}
}

// target adds what an operator assigns.
func (u *uses) target(e syntax.ArithmExpr) {
	w, ok := e.(*syntax.Word)
	u.assigns = true
	u.require(ok && syntax.ValidName(w.Lit()))
}

func (u *uses) operand(w *syntax.Word) {
	size := u.size
	defer func() { u.size = size }() // a number does not grow
	if name := w.Lit(); syntax.ValidName(name) {
		if u.read(name, false); u.own[name] {
			u.require(!u.texts[name])
		} else {
			known := u.of[name]
			text := known.Str
			if known.Kind == expand.Indexed && len(known.List) > 0 {
				text = known.List[0]
			}
			u.require(text == "" || numeric().MatchString(text))
		}
		return
	}
	own := *u
	own.known = true
	own.add(w)
	u.known, u.assumed, u.assigns = u.known && own.known, own.assumed, own.assigns
	for name := range own.names {
		if u.own[name] || len(u.within) > 0 && isCount(name) {
			u.require(!u.texts[name])
			return // its value is not known before the commands run
		}
	}
	if u.known {
		text, ok := u.of.value(w)
		u.require(ok && (text == "" || numeric().MatchString(text)))
	}
}
