package expression

import (
	"math"

	"github.com/expr-lang/expr/ast"

	"weir/assertion"
)

// term checks a node of what expr-lang parsed. Every name, literal and mention
// of another run has become a name there, and is known by its place.
func (s *side) term(n ast.Node) (*term, *Error) {
	at := n.Location()
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if t, ok := s.runs[at.From]; ok {
			return t, nil
		}
		return s.parser.name(s.tokens[at.From])
	case *ast.UnaryNode:
		return s.unary(n)
	case *ast.BinaryNode:
		return s.binary(n)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return s.call(callee.Location().From, n.Arguments)
		}
	}
	return nil, errorf(s.from, s.to, "a side is made of metrics, options, axes and quantities with + - * / and parentheses", "this is not arithmetic")
}

func (s *side) unary(n *ast.UnaryNode) (*term, *Error) {
	t, err := s.term(n.Node)
	if err != nil || n.Operator == "+" {
		return t, err
	}
	start := min(n.Location().From, t.from)
	if t.op == assertion.Const {
		negative := *t
		negative.value, negative.from = -t.value, start
		return &negative, nil
	}
	zero := &term{op: assertion.Const, dim: t.dim, from: start, to: t.from}
	return &term{op: assertion.Sub, dim: t.dim, from: start, to: t.to, args: []*term{zero, t}}, nil
}

func (s *side) binary(n *ast.BinaryNode) (*term, *Error) {
	at := n.Location()
	a, err := s.term(n.Left)
	if err != nil {
		return nil, err
	}
	b, err := s.term(n.Right)
	if err != nil {
		return nil, err
	}
	t := &term{op: assertion.Op(n.Operator), args: []*term{a, b}, from: min(a.from, b.from), to: max(a.to, b.to), bare: a.bare && b.bare}
	switch t.op {
	case assertion.Mul:
		t.dim = a.dim.Mul(b.dim)
	case assertion.Div:
		t.dim = a.dim.Div(b.dim)
	case assertion.Add, assertion.Sub:
		if a.dim != b.dim {
			hint := "add what is of one kind"
			if a.bare || b.bare {
				hint = "give the number a unit"
			}
			return nil, errorf(t.from, t.to, hint, "a %s and a %s cannot be added or subtracted", a.dim, b.dim)
		}
		t.dim = a.dim
	default:
		return nil, errorf(at.From, max(at.To, at.From+1), arithmeticOnly, "%q has no meaning in an assertion", n.Operator)
	}
	if max(t.dim.Bytes, t.dim.Seconds, -t.dim.Bytes, -t.dim.Seconds) > mostPower {
		return nil, errorf(t.from, t.to, "", "the product has too many units")
	}
	return t.folded()
}

// mostPower keeps the powers of units far from where they wrap around.
const mostPower = 8

// folded computes what two constants make.
func (t *term) folded() (*term, *Error) {
	a, b := t.args[0], t.args[1]
	if a.op != assertion.Const || b.op != assertion.Const {
		return t, nil
	}
	if t.op == assertion.Div && b.value == 0 {
		return nil, errorf(b.from, b.to, "", "division by zero")
	}
	t.value, t.op, t.args = compute(t.op, a.value, b.value), assertion.Const, nil
	if math.IsInf(t.value, 0) || math.IsNaN(t.value) {
		return nil, errorf(t.from, t.to, "", "the value is not finite")
	}
	return t, nil
}

func compute(op assertion.Op, a, b float64) float64 {
	switch op {
	case assertion.Add:
		return a + b
	case assertion.Sub:
		return a - b
	case assertion.Mul:
		return a * b
	}
	return a / b
}
