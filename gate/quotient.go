package gate

import (
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// withoutRatio returns a check of values that have no ratio: a comparison x <= k·y with a right side y that is not
// above zero becomes x - k·y <= 0. Other quotients by values below zero are errors, since their sign does not say
// which side is larger. A quotient by zero is one anyway.
func (check boundCheck) withoutRatio(sources []*source) (boundCheck, outcome, bool) {
	x, y, _ := gainIn(check.subject)
	if e := check.subject; e.Op == assertion.Div && len(e.Args) == 2 {
		x, y = e.Args[0], e.Args[1]
	}
	if y == nil {
		return check, outcome{}, true
	}
	by, known := check.atMeans(sources, y)
	if !known || by > 0 {
		return check, outcome{}, true
	}
	low, high := check.bounds.Lower, check.bounds.Upper
	if !check.compared || (low == nil) == (high == nil) || x.Op != assertion.Metric || check.halo > 0 {
		if by < 0 {
			return check, failed(notAboveZero(check.metrics, y, formatSubject(y), by, unitOf(y))), false
		}
		return check, outcome{}, true
	}
	zero, share := 0., 0.
	if low != nil {
		share, check.bounds.Lower = *low, &zero
	} else {
		share, check.bounds.Upper = *high, &zero
	}
	if share != 1 {
		y = &assertion.Expr{Op: assertion.Mul, Args: []*assertion.Expr{{Op: assertion.Const, Value: share}, y}}
	}
	check.subject = &assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{x, y}}
	check.unit, check.written, check.target = x.Unit, "", nil
	return check, outcome{}, true
}

// atMeans is the value of an expression at the means of its metrics over the launches.
func (check boundCheck) atMeans(sources []*source, e *assertion.Expr) (float64, bool) {
	all := true
	v, err := e.EvalWith(func(leaf *assertion.Expr) (float64, error) {
		mean, known := check.meanOf(sources, leaf, false)
		all = all && known // what is unknown is reported where it is judged
		return mean, nil
	}, unitOf(e))
	return quantity.Round(v), err == nil && all
}

// unitOf is the unit of a metric; "" of other expressions.
func unitOf(e *assertion.Expr) string {
	if e.Op == assertion.Metric {
		return e.Unit
	}
	return ""
}
