package gate

import (
	"fmt"

	"github.com/weir-bench/weir/results/assertion"
)

// gradient returns the derivative of an expression by each of n variables, in base units, at the given
// values. Reverse accumulation costs a few evaluations for any number of cases, and gives the same bits on
// every machine. Operands that tie for minimum, maximum or median share the derivative.
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
			return nil, fmt.Errorf("the slope of %s by its metric %d is %v", formatSubject(e), i+1, v)
		}
	}
	return out, nil
}

// operation is a node of the expression with its value.
type operation struct {
	e     *assertion.Expr
	value float64
	args  []*operation
}

func newNode(e *assertion.Expr, value func(leaf *assertion.Expr) (float64, error)) (*operation, error) {
	n := &operation{e: e}
	for _, arg := range e.Args {
		a, err := newNode(arg, value)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, a)
	}
	// Package assertion defines the operations: evaluate this one on the operands' values.
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

// backward adds slope times the derivatives of the operation to out.
func (n *operation) backward(slope float64, variable func(leaf *assertion.Expr) int, out []float64) {
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

// slopes are the derivatives of the operation by its operands.
func (n *operation) slopes() []float64 {
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
	return nil // a constant
}
