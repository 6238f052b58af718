package expression

import (
	"math"

	"github.com/weir-bench/weir/results/assertion"
)

// literal returns the term of a quantity.
func literal(t token) *term {
	q := t.quantity
	return &term{
		op: assertion.Const, value: q.Value, dim: q.Dim, bare: q.Unit == "", percent: q.Unit == "%", literal: t.text,
		written: q.Unit,
		from:    t.from, to: t.to,
	}
}

// negative returns a term with a minus before it.
func negative(t *term, minus token, to int) (*term, *Error) {
	if t.op == assertion.Const {
		out := *t
		out.value, out.from, out.to = -t.value, minus.from, to
		return &out, nil
	}
	zero := &term{op: assertion.Const, dim: t.dim, from: minus.from, to: minus.to}
	return binary(token{text: "-"}, zero, t, minus.from, to)
}

// binary returns the term of two operands; from and to are its span.
func binary(op token, a, b *term, from, to int) (*term, *Error) {
	t := &term{
		op: assertion.Op(op.text), args: []*term{a, b}, height: 1 + max(a.height, b.height), bare: a.bare && b.bare,
		from: from, to: to,
	}
	switch t.op {
	case assertion.Mul:
		t.dim = a.dim.Mul(b.dim)
	case assertion.Div:
		t.dim = a.dim.Div(b.dim)
	case assertion.Add, assertion.Sub:
		if a.dim != b.dim {
			hint := "add values of the same dimension"
			if a.bare || b.bare {
				hint = "give the number a unit"
			}
			return nil, t.errorf(hint, "a %s and a %s cannot be added or subtracted", a.dim, b.dim)
		}
		t.dim = a.dim
		if err := t.checkPercent(); err != nil {
			return nil, err
		}
	}
	if max(t.dim.Bytes, t.dim.Seconds, -t.dim.Bytes, -t.dim.Seconds) > maxPower {
		return nil, t.errorf("", "the product has too many units")
	}
	return t.foldConstants()
}

// maxPower keeps the powers of units far from overflow.
const maxPower = 8

// foldConstants computes a term of two constants.
func (t *term) foldConstants() (*term, *Error) {
	a, b := t.args[0], t.args[1]
	if t.height > maxNesting {
		return nil, tooDeep(t.from, t.to)
	}
	if a.op != assertion.Const || b.op != assertion.Const {
		return t, nil
	}
	if t.op == assertion.Div && b.value == 0 {
		return nil, b.errorf("", "division by zero")
	}
	t.value, t.op, t.args, t.height = compute(t.op, a.value, b.value), assertion.Const, nil, 0
	if math.IsInf(t.value, 0) || math.IsNaN(t.value) {
		return nil, t.errorf("", "the value is not finite")
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
