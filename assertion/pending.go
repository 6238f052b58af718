package assertion

import (
	"fmt"
	"math"
	"slices"

	"weir/quantity"
)

// Leaves are all Metric nodes of the expression, in order.
func (e *Expr) Leaves() []*Expr {
	if e.Op == Metric {
		return []*Expr{e}
	}
	var out []*Expr
	for _, a := range e.Args {
		out = append(out, a.Leaves()...)
	}
	return out
}

// Cases are the keys of the cases that the expression mentions, each once, in order.
func (e *Expr) Cases() []string {
	var out []string
	for _, l := range e.Leaves() {
		if l.Case != "" && !slices.Contains(out, l.Case) {
			out = append(out, l.Case)
		}
	}
	return out
}

// EvalWith computes the expression with a value for each Metric node, in the
// node's unit, and gives it in the unit asked for.
func (e *Expr) EvalWith(value func(leaf *Expr) (float64, error), unit string) (float64, error) {
	v, err := e.evalWith(value)
	if err != nil {
		return 0, err
	}
	u, ok := quantity.UnitOf(unit)
	if !ok {
		return 0, fmt.Errorf("unknown unit %q", unit)
	}
	return v / u.Factor, nil
}

func (e *Expr) evalWith(value func(*Expr) (float64, error)) (float64, error) {
	switch e.Op {
	case Const:
		return e.Value, nil
	case Metric:
		v, err := value(e)
		if err != nil {
			return 0, err
		}
		u, ok := quantity.UnitOf(e.Unit)
		if !ok {
			return 0, fmt.Errorf("metric %s has unknown unit %q", e.Metric, e.Unit)
		}
		return v * u.Factor, nil
	}
	args := make([]float64, len(e.Args))
	for i, a := range e.Args {
		v, err := a.evalWith(value)
		if err != nil {
			return 0, err
		}
		args[i] = v
	}
	v, err := e.combine(args)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		return 0, fmt.Errorf("%s is %v", e, v)
	}
	return v, err
}

func (e *Expr) combine(v []float64) (float64, error) {
	n := float64(len(v))
	switch e.Op {
	case Min, Max, Mean, Geomean, Median:
		if len(v) == 0 {
			return 0, fmt.Errorf("operation %q has no operands", e.Op)
		}
	default:
		if len(v) != 2 {
			return 0, fmt.Errorf("operation %q has %d operands, not 2", e.Op, len(v))
		}
	}
	switch e.Op {
	case Add:
		return v[0] + v[1], nil
	case Sub:
		return v[0] - v[1], nil
	case Mul:
		return v[0] * v[1], nil
	case Div:
		if v[1] == 0 {
			return 0, fmt.Errorf("division by zero: %s is 0", e.Args[1])
		}
		return v[0] / v[1], nil
	case Min:
		return slices.Min(v), nil
	case Max:
		return slices.Max(v), nil
	case Mean:
		sum := 0.0
		for _, x := range v {
			sum += x / n
		}
		return sum, nil
	case Geomean:
		sum := 0.0
		for _, x := range v {
			if x <= 0 {
				return 0, fmt.Errorf("a geometric mean needs values above zero")
			}
			sum += math.Log(x) / n
		}
		return math.Exp(sum), nil
	case Median:
		s := slices.Sorted(slices.Values(v))
		if len(s)%2 == 1 {
			return s[len(s)/2], nil
		}
		return s[len(s)/2-1]/2 + s[len(s)/2]/2, nil
	}
	return 0, fmt.Errorf("unknown operation %q", e.Op)
}
