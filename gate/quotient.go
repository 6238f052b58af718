package gate

import (
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// withoutRatio returns a check of values that have no ratio: a comparison x <= k·y with a right side y that is not
// above zero becomes x - k·y <= 0. Other quotients by values below zero are errors, since their sign does not say
// which side is larger. A quotient by zero is one anyway.
func (check boundCheck) withoutRatio(sources []*source) (boundCheck, outcome, bool) {
	quotient := check.subject
	if _, b, _ := gainIn(check.subject); b != nil {
		quotient = check.subject.Args[0]
		if quotient.Op == assertion.Const {
			quotient = check.subject.Args[1]
		}
	}
	if quotient.Op != assertion.Div || len(quotient.Args) != 2 {
		return check, outcome{}, true
	}
	x, y := quotient.Args[0], quotient.Args[1]
	by, known := check.meanOf(sources, y)
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

// meanOf is an expression of the means of its metrics over the launches, in base units.
func (check boundCheck) meanOf(sources []*source, e *assertion.Expr) (float64, bool) {
	all := true
	v, err := e.EvalWith(func(leaf *assertion.Expr) (float64, error) {
		k := check.sourceOf(leaf)
		for _, s := range sources {
			if s.key != k.key || (s.c == nil) != k.baseline || len(s.launches) == 0 {
				continue
			}
			v, err := newVariable(check.metrics, 0, s, leaf, false)
			if err != nil {
				break // reported where it is judged
			}
			return v.mean, nil
		}
		all = false
		return 1, nil
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
