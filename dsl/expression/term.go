package expression

import (
	"math"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"weir/assertion"
	"weir/quantity"
)

// term is one side of an assertion as a checked tree. It becomes an
// assertion.Expr once a case gives its options and axes their values.
type term struct {
	op       assertion.Op // Metric, Const, + - * /, or knob
	metric   string
	unit     string // of the metric
	knob     string // option or axis
	value    float64
	dim      quantity.Dimension
	bare     bool   // made of numbers without units: takes the unit of what it is held against
	percent  bool   // a percent literal
	literal  string // a quantity literal as written
	from, to int
	args     []*term
}

const knob assertion.Op = "knob"

// measured says whether the term mentions a metric.
func (t *term) measured() bool {
	if t.op == assertion.Metric {
		return true
	}
	for _, a := range t.args {
		if a.measured() {
			return true
		}
	}
	return false
}

// mayBeNegative is true unless the term is made of metrics and positive numbers
// by + * and /.
func (t *term) mayBeNegative() bool {
	if t.op == assertion.Sub || t.op == assertion.Const && t.value <= 0 {
		return true
	}
	for _, a := range t.args {
		if a.mayBeNegative() {
			return true
		}
	}
	return false
}

// unitOf is the unit of the first metric of a dimension.
func (t *term) unitOf(d quantity.Dimension) (string, bool) {
	if t.op == assertion.Metric && t.dim == d {
		return t.unit, true
	}
	for _, a := range t.args {
		if u, ok := a.unitOf(d); ok {
			return u, true
		}
	}
	return "", false
}

// sideParser makes terms from spans of an assertion. expr-lang parses; literals
// and places are kept apart, since it has neither units nor the place of a number.
type sideParser struct {
	names  *Names
	runes  []rune
	tokens map[int]token
}

// side parses the tokens on one side of a word.
func (p *sideParser) side(tokens []token, of token, where string) (*term, *Error) {
	if len(tokens) == 0 {
		return nil, errorf(of.from, of.to, forms, "nothing stands %s %s", where, of.text)
	}
	from, to := tokens[0].from, tokens[len(tokens)-1].to
	p.tokens = map[int]token{}
	literals := map[int]token{}
	for _, t := range tokens {
		p.tokens[t.from] = t
		if t.kind == quantityToken {
			literals[t.from] = t
		}
	}
	tree, err := parser.Parse(pad(p.runes, from, to, literals))
	if err != nil {
		return nil, place(err, from, to)
	}
	return p.term(tree.Node, from, to)
}

// percent parses the P of within.
func (p *sideParser) percent(tokens []token, of token) (float64, *Error) {
	t, err := p.side(tokens, of, "after")
	if err != nil {
		return 0, err
	}
	switch {
	case t.op != assertion.Const || t.dim != quantity.Number:
		return 0, errorf(t.from, t.to, "write a percentage, as 10%; for ends in units write `x between a and b`", "the tolerance is not a percentage")
	case t.value <= 0:
		return 0, errorf(t.from, t.to, "write a percentage above 0", "the tolerance is not positive")
	case t.value >= 1:
		hint := "for so wide a band write `x between a and b`"
		if t.bare {
			hint = "did you mean " + string(p.runes[t.from:t.to]) + "%?"
		}
		return 0, errorf(t.from, t.to, hint, "the tolerance is 100 %% or more")
	}
	return t.value, nil
}

// term checks a node. The span is that of the whole side, for nodes whose own
// place expr-lang does not tell.
func (p *sideParser) term(n ast.Node, from, to int) (*term, *Error) {
	at := n.Location()
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return p.name(p.tokens[at.From])
	case *ast.MemberNode:
		root := ast.Node(n)
		for {
			m, ok := root.(*ast.MemberNode)
			if !ok {
				break
			}
			root = m.Node
		}
		switch root := root.(type) {
		case *ast.IdentifierNode:
			return p.name(p.tokens[root.Location().From])
		case *ast.CallNode:
			return p.term(root, from, to)
		}
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			t, err := p.term(n.Node, from, to)
			if err != nil || n.Operator == "+" {
				return t, err
			}
			start := min(at.From, t.from)
			if t.op == assertion.Const {
				t.value, t.from = -t.value, start
				return t, nil
			}
			zero := &term{op: assertion.Const, dim: t.dim, from: start, to: t.from}
			return &term{op: assertion.Sub, dim: t.dim, from: start, to: t.to, args: []*term{zero, t}}, nil
		}
	case *ast.BinaryNode:
		return p.binary(n, from, to)
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			t := p.tokens[id.Location().From]
			if t.text == "run" {
				return nil, errorf(t.from, t.to, "compare metrics of one run", "metrics of another run cannot be used")
			}
			return nil, errorf(t.from, t.to, "use + - * / and parentheses", "assertions have no function %s", t.text)
		}
	case *ast.BuiltinNode:
		t := p.tokens[at.From]
		return nil, errorf(at.From, max(t.to, at.From+1), "use + - * / and parentheses", "assertions have no function %s", n.Name)
	}
	return nil, errorf(from, to, "a side is made of metrics, options, axes and quantities with + - * / and parentheses", "this is not arithmetic")
}

// name resolves a metric, an option, an axis or a literal by its place.
func (p *sideParser) name(t token) (*term, *Error) {
	if t.kind == quantityToken {
		q := t.quantity
		return &term{op: assertion.Const, value: q.Value, dim: q.Dim, bare: q.Unit == "", percent: q.Unit == "%", literal: t.text, from: t.from, to: t.to}, nil
	}
	if m, ok := p.names.Kind.Metric(t.text); ok {
		return &term{op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), from: t.from, to: t.to}, nil
	}
	if dim, ok := p.names.dimension(t.text); ok {
		return &term{op: knob, knob: t.text, dim: dim, from: t.from, to: t.to}, nil
	}
	_, option := p.names.Kind.Option(t.text)
	if _, axis := p.names.axis(t.text); option || axis {
		return nil, errorf(t.from, t.to, "to choose cases by it write `where "+t.text+` == "…"`+"`", "%q is not a number", t.text)
	}
	return nil, p.names.unknownMetric(t)
}

func (p *sideParser) binary(n *ast.BinaryNode, from, to int) (*term, *Error) {
	at := n.Location()
	a, err := p.term(n.Left, from, to)
	if err != nil {
		return nil, err
	}
	b, err := p.term(n.Right, from, to)
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
		return nil, errorf(at.From, max(at.To, at.From+1), "use + - * / and parentheses", "operator %s has no meaning in an assertion", n.Operator)
	}
	if a.op == assertion.Const && b.op == assertion.Const {
		if t.op == assertion.Div && b.value == 0 {
			return nil, errorf(b.from, b.to, "", "division by zero")
		}
		t.value, t.op, t.args = compute(t.op, a.value, b.value), assertion.Const, nil
		if math.IsInf(t.value, 0) || math.IsNaN(t.value) {
			return nil, errorf(t.from, t.to, "", "the value is not finite")
		}
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
