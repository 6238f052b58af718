package assertion

import (
	"errors"
	"fmt"
	"math"

	"github.com/weir-bench/weir/internal/quantity"
)

// Eval evaluates the expression on the metrics of one launch (each in its registry's unit) and returns it
// in the given unit. Missing metrics, metrics of other cases and non-finite results are errors: they must
// never satisfy a bound.
func (e *Expr) Eval(metric func(name string) (float64, bool), unit string) (float64, error) {
	return e.EvalWith(func(leaf *Expr) (float64, error) {
		if leaf.Case != "" || leaf.Baseline {
			return 0, fmt.Errorf("metric %s is not of the launch", leaf)
		}
		v, ok := metric(leaf.Metric)
		if !ok {
			return 0, fmt.Errorf("metric %s is missing", leaf)
		}
		return v, nil
	}, unit)
}

// EvalWith evaluates the expression with a value for each Metric leaf, in the leaf's unit, and returns it
// in the given unit.
//
// Non-finite values, a division by zero, an aggregate of nothing, and a non-positive operand of an
// aggregate that needs positive ones are errors.
func (e *Expr) EvalWith(value func(leaf *Expr) (float64, error), unit string) (float64, error) {
	v, err := e.eval(value)
	if err != nil {
		return 0, err
	}
	u, ok := quantity.UnitOf(unit)
	if !ok {
		return 0, fmt.Errorf("unknown unit %q", unit)
	}
	v /= u.Factor
	if !finite(v) {
		return 0, fmt.Errorf("%s is %v in %s", e, v, unit)
	}
	return v, nil
}

func (e *Expr) eval(value func(*Expr) (float64, error)) (float64, error) {
	if e == nil {
		return 0, errors.New("an operand is missing")
	}
	var v float64
	var err error
	switch e.Op {
	case Const:
		v = e.Value
	case Metric:
		return e.leaf(value)
	default:
		if a, ok := e.Op.Aggregate(); ok {
			v, err = e.aggregate(a, value)
		} else {
			v, err = e.arithmetic(value)
		}
	}
	if err != nil {
		return 0, err
	}
	if !finite(v) {
		return 0, fmt.Errorf("%s is %v", e, v)
	}
	return v, nil
}

// leaf returns the value of a Metric leaf in base units.
func (e *Expr) leaf(value func(*Expr) (float64, error)) (float64, error) {
	v, err := value(e)
	if err != nil {
		return 0, err
	}
	if !finite(v) {
		return 0, fmt.Errorf("metric %s is %v", e, v)
	}
	u, ok := quantity.UnitOf(e.Unit)
	if !ok {
		return 0, fmt.Errorf("metric %s has unknown unit %q", e, e.Unit)
	}
	if v *= u.Factor; !finite(v) {
		return 0, fmt.Errorf("metric %s is %v in base units", e, v)
	}
	return v, nil
}

func (e *Expr) arithmetic(value func(*Expr) (float64, error)) (float64, error) {
	if len(e.Args) != 2 {
		return 0, fmt.Errorf("operation %q has %d operands, not 2", e.Op, len(e.Args))
	}
	a, err := e.Args[0].eval(value)
	if err != nil {
		return 0, err
	}
	b, err := e.Args[1].eval(value)
	if err != nil {
		return 0, err
	}
	switch e.Op {
	case Add:
		return a + b, nil
	case Sub:
		return a - b, nil
	case Mul:
		return a * b, nil
	case Div:
		if b == 0 {
			return 0, fmt.Errorf("division by zero: %s is 0", e.Args[1])
		}
		return a / b, nil
	}
	return 0, fmt.Errorf("unknown operation %q", e.Op)
}

func (e *Expr) aggregate(a Aggregate, value func(*Expr) (float64, error)) (float64, error) {
	if len(e.Args) == 0 {
		return 0, fmt.Errorf("%s of no values", e.Op)
	}
	operands := make([]float64, len(e.Args))
	for i, arg := range e.Args {
		v, err := arg.eval(value)
		if err != nil {
			return 0, err
		}
		if a.OfPositive && v <= 0 {
			return 0, fmt.Errorf("%s needs positive values: %s is %v", e.Op, arg, v)
		}
		operands[i] = v
	}
	return a.Eval(operands), nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
