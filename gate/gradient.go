package gate

import (
	"fmt"

	"weir/assertion"
)

// gradient is the derivative of an expression by each of n variables, in base
// units, at the values given. It goes backwards through the expression once
// (reverse accumulation), so that it costs no more than a few evaluations however
// many cases an aggregate runs over, and has no step whose rounding would differ
// between machines. Where several operands are the least, the greatest or the
// middle ones, they share the derivative.
func gradient(e *assertion.Expr, n int, value func(leaf *assertion.Expr) (float64, error),
	variable func(leaf *assertion.Expr) int) ([]float64, error) {
	root, err := newNode(e, value)
	if err != nil {
		return nil, err
	}
	out := make([]float64, n)
	root.backward(1, variable, out)
	for i, v := range out {
		if notFinite(v) {
			return nil, fmt.Errorf("the slope of %s by its metric %d is %v", shown(e), i+1, v)
		}
	}
	return out, nil
}

// node is an operation with its value.
type node struct {
	e     *assertion.Expr
	value float64
	args  []*node
}

func newNode(e *assertion.Expr, value func(leaf *assertion.Expr) (float64, error)) (*node, error) {
	n := &node{e: e}
	for _, arg := range e.Args {
		a, err := newNode(arg, value)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, a)
	}
	// The node's own operation on values that are known already: the meaning of
	// every operation is the assertion package's alone.
	flat := &assertion.Expr{Op: e.Op, Metric: e.Metric, Unit: e.Unit, Value: e.Value}
	for _, a := range n.args {
		flat.Args = append(flat.Args, &assertion.Expr{Op: assertion.Const, Value: a.value})
	}
	v, err := flat.EvalWith(func(*assertion.Expr) (float64, error) { return value(e) }, "")
	if err != nil {
		return nil, err
	}
	n.value = v
	return n, nil
}

// backward adds slope times the derivatives of the node to out.
func (n *node) backward(slope float64, variable func(leaf *assertion.Expr) int, out []float64) {
	if n.e.Op == assertion.Metric {
		out[variable(n.e)] += slope
		return
	}
	for i, d := range n.slopes() {
		if d != 0 {
			n.args[i].backward(slope*d, variable, out)
		}
	}
}

// slopes are the derivatives of the node by its operands.
func (n *node) slopes() []float64 {
	operands := make([]float64, len(n.args))
	for i, a := range n.args {
		operands[i] = a.value
	}
	switch n.e.Op {
	case assertion.Add:
		return []float64{1, 1}
	case assertion.Sub:
		return []float64{1, -1}
	case assertion.Mul:
		return []float64{operands[1], operands[0]}
	case assertion.Div:
		return []float64{1 / operands[1], -n.value / operands[1]}
	}
	if a, ok := n.e.Op.Aggregate(); ok {
		return a.Grad(operands, n.value)
	}
	return nil // of a constant
}
