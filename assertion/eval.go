package assertion

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/quantity"
)

// Eval computes the expression from the metrics of one launch (each in its
// registry's unit) and gives it in the unit asked for. A metric that is missing
// or of another case and a result that is not finite are errors: a value that
// nobody measured must never satisfy a bound.
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

// EvalWith computes the expression from a value for each Metric node, in the
// node's unit, and gives it in the unit asked for.
//
// Sums, products and aggregates are those of arithmetic: mean is Σx/n, geomean
// exp(Σ ln x / n) for positive x, median the middle value, or the mean of the
// middle two if their count is even. Everything that is no finite number is an
// error, and so are a division by zero, an aggregate of nothing, and the geomean
// of a value that is not positive.
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
	switch {
	case e.Op == Const:
		v = e.Value
	case e.Op == Metric:
		return e.leaf(value)
	case e.Op.Aggregates():
		v, err = e.aggregate(value)
	default:
		v, err = e.arithmetic(value)
	}
	if err != nil {
		return 0, err
	}
	if !finite(v) {
		return 0, fmt.Errorf("%s is %v", e, v)
	}
	return v, nil
}

// leaf is the value of a Metric node in base units.
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

func (e *Expr) aggregate(value func(*Expr) (float64, error)) (float64, error) {
	if len(e.Args) == 0 {
		return 0, fmt.Errorf("%s of no values", e.Op)
	}
	values := make([]float64, len(e.Args))
	for i, arg := range e.Args {
		v, err := arg.eval(value)
		if err != nil {
			return 0, err
		}
		if e.Op == Geomean {
			if v <= 0 {
				return 0, fmt.Errorf("geomean needs positive values: %s is %v", arg, v)
			}
			v = math.Log(v)
		}
		values[i] = v
	}
	switch e.Op {
	case Min:
		return slices.Min(values), nil
	case Max:
		return slices.Max(values), nil
	case Median:
		return median(values), nil
	case Geomean:
		return math.Exp(mean(values)), nil
	}
	return mean(values), nil
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return mean(values[middle-1 : middle+1])
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
