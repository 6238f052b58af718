package expression

import (
	"math"
	"reflect"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// band is a lowered relation.
type band struct {
	subject  *assertion.Expr
	unit     string
	written  string // the author's unit of the bounds; "" if it equals unit
	bounds   assertion.Bounds
	compared bool     // subject is the quotient of the two sides
	target   *float64 // value at the centre of the bounds; nil if the author gave the bounds
}

// relation inserts a case's values into a relation. A trend has no bounds.
func (l *lowering) relation(r *relation, v view) (band, *Error) {
	out := band{unit: r.unit, written: r.written()}
	left, err := l.expr(r.left, v)
	if err != nil {
		return out, err
	}
	out.subject = left
	if r.axis != "" {
		return out, nil
	}
	target, err := l.expr(r.right, v)
	if err != nil {
		return out, err
	}
	var upper *assertion.Expr
	if r.upper != nil {
		if upper, err = l.expr(r.upper, v); err != nil {
			return out, err
		}
	}
	if r.right.measured() {
		err = r.ratio(&out, left, target, upper)
	} else {
		err = r.constant(&out, left, target, upper, l.assertion.names.signed)
	}
	if err == nil && !(finite(out.bounds.Lower) && finite(out.bounds.Upper)) {
		return out, r.refuseInfinite()
	}
	return out, err
}

// written returns the unit in which the author wrote the target; "" if that is the unit of the
// bounds, or if no quantity has a unit.
func (r *relation) written() string {
	unit := ""
	for _, side := range []*term{r.right, r.upper} {
		if side == nil || side.measured() {
			continue
		}
		side.each(func(t *term, _ bool) {
			if unit == "" && t.op == assertion.Const && t.dim == r.left.dim {
				unit = t.written
			}
		})
	}
	if unit == r.unit {
		return ""
	}
	return unit
}

// refuseInfinite refuses finite numbers with an infinite product or quotient, which documents cannot
// contain.
func (r *relation) refuseInfinite() *Error {
	sides := r.sides()
	return errorf(r.left.from, sides[len(sides)-1].to, "check the numbers and options in it",
		"the value is not finite: a bound is too large for a number")
}

// finite reports whether an end of a band is a number, or open.
func finite(end *float64) bool { return end == nil || !math.IsInf(*end, 0) && !math.IsNaN(*end) }

// constant sets the bounds for a target that is a number. signed reports whether a metric may be negative.
func (r *relation) constant(out *band, left, target, upper *assertion.Expr, signed func(metric string) bool) *Error {
	low := r.inUnit(r.right, target.Value)
	high := low
	if upper != nil {
		high = r.inUnit(r.upper, upper.Value)
		if low >= high {
			return errorf(r.right.from, r.upper.to, "give the lower end first",
				"the band from %s to %s is empty", number(low), number(high))
		}
	}
	if r.word == "within" && low == 0 {
		return r.right.errorf("write `x between a and b`", "a share of 0 is 0: the band is empty")
	}
	out.bounds = r.band(low, high)
	out.around(r, low)
	switch b := out.bounds; {
	case !neverNegative(left, signed):
	case b.Upper != nil && *b.Upper < 0:
		return r.right.errorf("check the number",
			"metrics are never negative: a band up to %s cannot be met", number(*b.Upper))
	case r.word == "<" && b.Upper != nil && *b.Upper == 0:
		return r.right.errorf("write <= 0 for a count or rate that must be 0",
			"metrics are never negative: nothing is below 0")
	case b.Upper == nil && *b.Lower < 0:
		return r.right.errorf("check the number", "metrics are never negative: this is always above %s",
			number(*b.Lower))
	}
	return r.checkShareBounds(left, out.bounds)
}

// neverNegative reports whether an expression cannot be below 0. Metrics cannot, but for those that are signed.
func neverNegative(e *assertion.Expr, signed func(metric string) bool) bool {
	switch e.Op {
	case assertion.Metric:
		return !signed(e.Metric)
	case assertion.Const:
		return e.Value >= 0
	case assertion.Sub:
		return false
	}
	if a, ok := e.Op.Aggregate(); ok && !a.Positive {
		return false
	}
	return !slices.ContainsFunc(e.Args, func(a *assertion.Expr) bool { return !neverNegative(a, signed) })
}

// inUnit converts a constant of the target to the unit of the bounds. A plain number is in that
// unit already.
func (r *relation) inUnit(t *term, v float64) float64 {
	u, _ := quantity.UnitOf(r.unit)
	if t.bare && (r.left.dim != quantity.Number || r.left.inPercent()) {
		return quantity.Round(v)
	}
	return quantity.Round(v / u.Factor)
}

// ratio sets subject and bounds for a measured target: the quotient of left and right, with
// constant factors moved into the bounds. If both are metrics of the launch, so is the quotient.
func (r *relation) ratio(out *band, left, target, upper *assertion.Expr) *Error {
	leftFactor, leftRest := factor(left)
	factorLow, rest := factor(target)
	factorHigh := factorLow
	if upper != nil {
		var upperRest *assertion.Expr
		if factorHigh, upperRest = factor(upper); !reflect.DeepEqual(rest, upperRest) {
			return r.upper.errorf("write two assertions, one with >= and one with <=",
				"the two ends of between have different metrics")
		}
	}
	if !finite(&leftFactor) || !finite(&factorLow) || !finite(&factorHigh) {
		return r.refuseInfinite()
	}
	if !(leftFactor > 0) || factorLow == 0 || r.word != "within" && factorLow < 0 ||
		upper != nil && factorLow >= factorHigh {
		return r.right.errorf("check the numbers and options in it",
			"the target is %s * %s, which gives no band", number(factorLow), rest)
	}
	out.subject = &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{leftRest, rest}}
	out.unit, out.written, out.compared = "", "", true
	low := quantity.Round(factorLow / leftFactor)
	out.bounds = r.band(low, quantity.Round(factorHigh/leftFactor))
	out.around(r, low)
	return nil
}

// around keeps the target of a band that is centred on it.
func (b *band) around(r *relation, target float64) {
	if r.word == "within" {
		b.target = &target
	}
}

// band converts the comparison to bounds.
func (r *relation) band(low, high float64) assertion.Bounds {
	switch r.word {
	case ">=", ">":
		return assertion.Bounds{Lower: &low, Strict: r.word == ">"}
	case "<=", "<":
		return assertion.Bounds{Upper: &low, Strict: r.word == "<"}
	case "within":
		low, high = quantity.Round(low*(1-r.share)), quantity.Round(high*(1+r.share))
		if low > high {
			low, high = high, low
		}
	}
	return assertion.Bounds{Lower: &low, Upper: &high}
}

// factor splits off the constant factors of an expression.
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
