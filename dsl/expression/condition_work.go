package expression

import (
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"
)

// mostWork bounds the operations of one condition: what expr-lang allows in 4096
// characters, lists in predicates in predicates, could run for hours.
const mostWork = 100_000

// mostPattern bounds the instructions of a regular expression: x{1000} is short
// to write and long to run.
const mostPattern = 1000

// listLength is taken for the length of a list that the text does not show,
// which can only be the host's fabrics.
const listLength = 16

// workMeter estimates from above how many operations a condition takes. A name
// that `let` defines counts as what it stands for: a comparison of two lists is
// as long as the lists.
type workMeter struct {
	lets []let
}

type let struct {
	name string
	work int
}

func (m *workMeter) of(n ast.Node) int {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		for i := len(m.lets) - 1; i >= 0; i-- {
			if m.lets[i].name == n.Value {
				return m.lets[i].work
			}
		}
		return 1
	case *ast.VariableDeclaratorNode:
		value := m.of(n.Value)
		m.lets = append(m.lets, let{n.Name, value})
		work := m.sum(n.Expr)
		m.lets = m.lets[:len(m.lets)-1]
		return capped(value + work)
	case *ast.BuiltinNode:
		return m.builtin(n)
	case *ast.BinaryNode:
		if pattern, ok := n.Right.(*ast.StringNode); ok && n.Operator == "matches" {
			return capped(m.sum(n.Left) + patternSize(pattern.Value))
		}
		return m.sum(n.Left, n.Right)
	}
	return m.sum(children(n)...)
}

// builtin counts a predicate once for each element of its list.
func (m *workMeter) builtin(n *ast.BuiltinNode) int {
	if len(n.Arguments) == 2 {
		if p, ok := n.Arguments[1].(*ast.PredicateNode); ok {
			list := m.of(n.Arguments[0])
			return capped(list + max(list, listLength)*m.of(p.Node))
		}
	}
	return m.sum(n.Arguments...)
}

func (m *workMeter) sum(nodes ...ast.Node) int {
	work := 1
	for _, n := range nodes {
		work = capped(work + m.of(n))
	}
	return work
}

// capped keeps products inside of an int.
func capped(work int) int { return min(work, mostWork+1) }

// children are the operands of nodes that have nothing special about them.
func children(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.SliceNode:
		nodes := []ast.Node{n.Node}
		for _, end := range []ast.Node{n.From, n.To} {
			if end != nil {
				nodes = append(nodes, end)
			}
		}
		return nodes
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.CallNode:
		return append([]ast.Node{n.Callee}, n.Arguments...)
	}
	return nil
}

// patternSize is about the number of instructions of a regular expression.
// What does not parse is left to expr-lang, which says why.
func patternSize(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 1
	}
	return expressionSize(re)
}

func expressionSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size = min(size+expressionSize(sub), mostPattern+1)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, mostPattern+1)
}
