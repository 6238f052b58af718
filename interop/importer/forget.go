package importer

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

var variableName = lazyregexp.New(`[A-Za-z_]\w*`)

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
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && slices.Contains(defaults[2:], n.Exp.Op) {
				v.forget(n.Param.Value)
			}
		case *syntax.BinaryArithm:
			if op := n.Op.String(); strings.HasSuffix(op, "=") && !comparison().MatchString(op) {
				v.forgetNames(n.X)
			}
		case *syntax.LetClause: // in quotes
			syntax.Walk(n, func(n syntax.Node) bool {
				text := ""
				switch n := n.(type) {
				case *syntax.Lit:
					text = n.Value
				case *syntax.SglQuoted:
					text = n.Value
				}
				for _, name := range variableName().FindAllString(text, -1) {
					v.forget(name)
				}
				return true
			})
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				v.forgetNames(n.X)
			}
		case *syntax.CallExpr:
			v.forgetBy(n)
			v.forgetInFunction(n)
			for _, w := range n.Args {
				v.forgetIn(w)
			}
			return len(n.Args) == 0 // else it assigns for the command alone
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false // they are shells of their own
		}
		return true
	})
}

// forgetInFunction forgets the variables that a called function may assign, but those of its own.
func (v variables) forgetInFunction(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	entry := functionEntry(n.Args[0].Lit())
	of := v[entry]
	if of.function == nil {
		return
	}
	var own []string
	syntax.Walk(of.function.decl.Body, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.DeclClause); ok && d.Variant.Value != "export" && d.Variant.Value != "readonly" {
			for _, a := range d.Args {
				if a.Name != nil {
					own = append(own, a.Name.Value)
				}
			}
		}
		return true
	})
	restore := v.keep(own)
	delete(v, entry) // it may call itself
	v.forgetIn(of.function.decl.Body)
	v[entry] = of
	restore(v)
}

// forgetBy forgets the variables that a command of the shell may assign.
func (v variables) forgetBy(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	switch args := n.Args[1:]; n.Args[0].Lit() {
	case "read", "unset", "mapfile", "readarray", "getopts":
		for _, w := range args {
			text, ok := v.value(w)
			if name, _, _ := strings.Cut(text, "["); ok && syntax.ValidName(name) {
				v.forget(name)
			}
		}
	case "printf":
		if len(args) > 1 && args[0].Lit() == "-v" && syntax.ValidName(args[1].Lit()) {
			v.forget(args[1].Lit())
		}
	case "source", ".", "eval":
		clear(v)
		v.forget(others)
	case "shift":
		v.forgetArguments()
	case "set":
		for _, w := range args {
			if lit := w.Lit(); lit == "--" || lit == "" || lit[0] != '-' && lit[0] != '+' {
				v.forgetArguments()
			}
		}
	}
}
