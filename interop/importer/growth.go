package importer

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// How values grow in commands that are evaluated: the interpreter has no limit for that.

// mostGrowth is the highest growth of values that are evaluated.
const mostGrowth = 1 << 10

// grows adds that a value follows from several texts.
func (u *uses) grows(texts int) {
	u.growth *= max(1, texts)
	u.require(u.growth <= mostGrowth)
	u.growth = min(u.growth, mostGrowth+1)
}

// passesOn adds the texts that a statement passes on by a pipe, to a function, or to a command that sets variables.
func (u *uses) passesOn(n *syntax.Stmt) {
	switch cmd := n.Cmd.(type) {
	case *syntax.BinaryCmd:
		if cmd.Op != syntax.Pipe && cmd.Op != syntax.PipeAll {
			return
		}
	case *syntax.CallExpr:
		isSetter := len(cmd.Args) > 0 && slices.Contains(setters, cmd.Args[0].Lit())
		if len(cmd.Args) == 0 || !isSetter && u.of[functionEntry(cmd.Args[0].Lit())].function == nil {
			return
		}
	default:
		return
	}
	texts := 0
	syntax.Walk(n, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.ParamExp); ok {
			texts++
		}
		return true
	})
	u.grows(texts)
}

// loop adds the body of a loop. A value may not follow from several of the pass before: it would double in each.
func (u *uses) loop(body []*syntax.Stmt) {
	size := u.size
	sets := false
	for _, stmt := range body {
		u.add(stmt)
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Assign:
				_, isNumber := onlyPart(n.Value).(*syntax.ArithmExp)
				sets = sets || n.Array != nil || n.Append || n.Value != nil && litOf(n.Value) == "" && !isNumber
			case *syntax.CallExpr:
				sets = sets || len(n.Args) > 0 && slices.Contains(setters, n.Args[0].Lit())
			}
			return true
		})
	}
	u.require(!sets || u.size-size < 2)
}

// setters are commands that set variables by their words or by what they read.
var setters = names("read|mapfile|readarray|printf|set|eval")
