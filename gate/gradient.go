package gate

import (
	"cmp"
	"fmt"
	"slices"

	"weir/assertion"
)

// gradient is the derivative of an expression by each of n variables, in base
// units, at the values given. It goes backwards through the expression once
// (reverse accumulation), so that it costs no more than a few evaluations however
// many cases an aggregate runs over, and has no step whose rounding would differ
// between machines. Where several operands are the least, the greatest or the
// middle ones, they share the derivative.
func gradient(e *assertion.Expr, n int, value func(leaf *assertion.Expr) (float64, error), variable func(leaf *assertion.Expr) int) ([]float64, error) {
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
	count := float64(len(n.args))
	out := make([]float64, len(n.args))
	switch n.e.Op {
	case assertion.Add:
		out[0], out[1] = 1, 1
	case assertion.Sub:
		out[0], out[1] = 1, -1
	case assertion.Mul:
		out[0], out[1] = n.args[1].value, n.args[0].value
	case assertion.Div:
		out[0], out[1] = 1/n.args[1].value, -n.value/n.args[1].value
	case assertion.Mean:
		for i := range out {
			out[i] = 1 / count
		}
	case assertion.Geomean:
		for i, a := range n.args {
			out[i] = n.value / (count * a.value)
		}
	case assertion.Min, assertion.Max:
		n.share(out, n.value, 1)
	case assertion.Median:
		sorted := slices.SortedFunc(slices.Values(n.args), func(a, b *node) int { return cmp.Compare(a.value, b.value) })
		low, high := sorted[(len(sorted)-1)/2].value, sorted[len(sorted)/2].value
		n.share(out, low, 0.5)
		n.share(out, high, 0.5)
	}
	return out
}

// share gives equal parts of a slope to the operands that have a value.
func (n *node) share(out []float64, value, slope float64) {
	equal := 0.0
	for _, a := range n.args {
		if a.value == value {
			equal++
		}
	}
	for i, a := range n.args {
		if a.value == value {
			out[i] += slope / equal
		}
	}
}
