package expression

import (
	"math"
	"reflect"

	"weir/assertion"
	"weir/quantity"
)

// Lower gives the assertion for one case: options and axes have become numbers,
// and what is left is a subject over metrics and a numeric band. Name, place and
// severity are the caller's.
func (a *Assertion) Lower(s Scope) (assertion.Assertion, *Error) {
	out := assertion.Assertion{Text: a.text, Unit: a.unit}
	left, err := a.left.expr(s)
	if err != nil {
		return out, err
	}
	out.Subject = left
	if a.axis != "" {
		out.Trend = &assertion.Trend{Axis: a.axis, Direction: a.relation, Tolerance: quantity.Round(a.share)}
		out.Lowered = trendText(left, out.Trend)
		return out, nil
	}
	target, err := a.right.expr(s)
	if err != nil {
		return out, err
	}
	var upper *assertion.Expr
	if a.upper != nil {
		if upper, err = a.upper.expr(s); err != nil {
			return out, err
		}
	}
	if a.right.measured() {
		err = a.ratio(&out, left, target, upper)
	} else {
		err = a.constant(&out, target, upper)
	}
	if err != nil {
		return out, err
	}
	out.Lowered = bandText(out)
	return out, nil
}

// constant sets the bounds where the target is a number.
func (a *Assertion) constant(out *assertion.Assertion, target, upper *assertion.Expr) *Error {
	low := a.inUnit(a.right, target.Value)
	high := low
	if upper != nil {
		high = a.inUnit(a.upper, upper.Value)
		if low >= high {
			return errorf(a.right.from, a.upper.to, "give the lower end first", "the band from %s to %s is empty", number(low), number(high))
		}
	}
	if a.relation == "within" && low == 0 {
		return errorf(a.right.from, a.right.to, "write `x between a and b`", "a share of 0 is 0: the band is empty")
	}
	out.Bounds = a.band(low, high)
	return nil
}

// inUnit is a constant of the target in the unit of the bounds. A bare number is
// in that unit already.
func (a *Assertion) inUnit(t *term, v float64) float64 {
	u, _ := quantity.UnitOf(a.unit)
	if t.bare && a.left.dim != quantity.Number {
		return quantity.Round(v)
	}
	return quantity.Round(v / u.Factor)
}

// ratio sets subject and bounds where the target is measured: the launch's own
// left over right, with constant factors moved into the bounds.
func (a *Assertion) ratio(out *assertion.Assertion, left, target, upper *assertion.Expr) *Error {
	leftFactor, leftRest := factor(left)
	factorLow, rest := factor(target)
	factorHigh := factorLow
	if upper != nil {
		var upperRest *assertion.Expr
		if factorHigh, upperRest = factor(upper); !reflect.DeepEqual(rest, upperRest) {
			return errorf(a.upper.from, a.upper.to, "write two assertions, one with >= and one with <=", "the ends of between are measured differently")
		}
	}
	if !(leftFactor > 0) || factorLow == 0 || a.relation != "within" && factorLow < 0 || upper != nil && factorLow >= factorHigh {
		return errorf(a.right.from, a.right.to, "check the numbers and options in it", "the target is %s * %s, which makes no band", number(factorLow), rest)
	}
	out.Subject = &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{leftRest, rest}}
	out.Unit = ""
	out.Bounds = a.band(quantity.Round(factorLow/leftFactor), quantity.Round(factorHigh/leftFactor))
	return nil
}

// band applies the relation. Strict and non-strict bounds are the same for a
// value that is measured on a continuous scale.
func (a *Assertion) band(low, high float64) assertion.Bounds {
	switch a.relation {
	case ">=", ">":
		return assertion.Bounds{Lower: &low}
	case "<=", "<":
		return assertion.Bounds{Upper: &low}
	case "within":
		low, high = quantity.Round(low*(1-a.share)), quantity.Round(high*(1+a.share))
		if low > high {
			low, high = high, low
		}
	}
	return assertion.Bounds{Lower: &low, Upper: &high}
}

// factor takes the positive constant factors out of an expression.
func factor(e *assertion.Expr) (float64, *assertion.Expr) {
	if e.Op == assertion.Mul {
		for i, c := range e.Args {
			if c.Op == assertion.Const {
				k, rest := factor(e.Args[1-i])
				return k * c.Value, rest
			}
		}
	}
	if e.Op == assertion.Div && e.Args[1].Op == assertion.Const {
		k, rest := factor(e.Args[0])
		return k / e.Args[1].Value, rest
	}
	return 1, e
}

// expr puts the case's values in and folds what is then constant.
func (t *term) expr(s Scope) (*assertion.Expr, *Error) {
	switch t.op {
	case assertion.Const:
		return &assertion.Expr{Op: assertion.Const, Value: t.value}, nil
	case assertion.Metric:
		return &assertion.Expr{Op: assertion.Metric, Metric: t.metric, Unit: t.unit}, nil
	case knob:
		v, ok := s.number(t.knob)
		if !ok {
			return nil, errorf(t.from, t.to, "", "the case has no number %s", t.knob)
		}
		return &assertion.Expr{Op: assertion.Const, Value: v}, nil
	}
	a, err := t.args[0].expr(s)
	if err != nil {
		return nil, err
	}
	b, err := t.args[1].expr(s)
	if err != nil {
		return nil, err
	}
	if t.op == assertion.Div && b.Op == assertion.Const && b.Value == 0 {
		return nil, errorf(t.args[1].from, t.args[1].to, "", "division by zero")
	}
	switch {
	case a.Op == assertion.Const && b.Op == assertion.Const:
		v := compute(t.op, a.Value, b.Value)
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, errorf(t.from, t.to, "", "the value is not finite")
		}
		return &assertion.Expr{Op: assertion.Const, Value: v}, nil
	case (t.op == assertion.Mul || t.op == assertion.Div) && b.Op == assertion.Const && b.Value == 1:
		return a, nil
	case t.op == assertion.Mul && a.Op == assertion.Const && a.Value == 1:
		return b, nil
	}
	return &assertion.Expr{Op: t.op, Args: []*assertion.Expr{a, b}}, nil
}

// number is the value of an option or axis in base units.
func (s Scope) number(name string) (float64, bool) {
	v, ok := s.Options[name]
	if !ok {
		v = s.Axes[name]
	}
	switch v := base(v).(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
