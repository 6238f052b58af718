package gate

import (
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// withoutRatio returns a check of values that have no ratio. A comparison x <= k·y, or a gain, becomes x - k·y <= 0 if
// y is not above zero, or if x or y may be zero and is so in a launch. The interval of that difference is Fieller's
// of the ratio (E. C. Fieller, Journal of the Royal Statistical Society B 16, 1954), which holds for any y. Other
// quotients by values below zero are errors, since their sign does not say which side is larger. A quotient by zero
// is one anyway.
func (check boundCheck) withoutRatio(sources []*source) (boundCheck, outcome, bool) {
	x, y, better := gainIn(check.subject)
	gain := x != nil
	if e := check.subject; e.Op == assertion.Div && len(e.Args) == 2 {
		x, y = e.Args[0], e.Args[1]
	}
	if y == nil || positive(check.metrics, x) && positive(check.metrics, y) { // 0 is no measurement of these
		return check, outcome{}, true
	}
	by, known := check.atMeans(sources, y)
	if !known || by > 0 && check.aboveZero(sources, x) && check.aboveZero(sources, y) {
		return check, outcome{}, true
	}
	low, high := check.bounds.Lower, check.bounds.Upper
	if gain && by < 0 || !gain && !check.compared ||
		(low == nil) == (high == nil) || x.Op != assertion.Metric || check.halo > 0 {
		if by < 0 {
			return check, failed(notAboveZero(check.metrics, y, formatSubject(y), by, unitOf(y))), false
		}
		return check, outcome{}, true
	}
	if gain {
		// 0 and 0 are no gain, although their difference is at least 0
		check.bounds.Strict = check.bounds.Strict || low != nil && *low > 0
		low, high = ratioOfGain(better, low, high)
	}
	zero, share := 0., 0.
	check.bounds.Lower, check.bounds.Upper = nil, nil
	if low != nil {
		share, check.bounds.Lower = *low, &zero
	} else {
		share, check.bounds.Upper = *high, &zero
	}
	if share != 1 {
		y = &assertion.Expr{Op: assertion.Mul, Args: []*assertion.Expr{{Op: assertion.Const, Value: share}, y}}
	}
	check.subject = &assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{x, y}}
	check.unit, check.written, check.target, check.gainByDifference = x.Unit, "", nil, gain
	return check, outcome{}, true
}

// ratioOfGain converts the bounds of a gain to those of the ratio of new and old.
func ratioOfGain(better workload.Direction, low, high *float64) (lower, upper *float64) {
	ratio := func(gain *float64, sign float64) *float64 {
		if gain == nil {
			return nil
		}
		v := quantity.Round(1 + sign**gain)
		return &v
	}
	if better == workload.Lower {
		return ratio(high, -1), ratio(low, -1)
	}
	return ratio(low, 1), ratio(high, 1)
}

// aboveZero reports whether a metric that may be zero is not so in any launch. Others are refused if they are.
func (check boundCheck) aboveZero(sources []*source, e *assertion.Expr) bool {
	if e.Op != assertion.Metric || positive(check.metrics, e) {
		return true
	}
	_, above := check.meanOf(sources, e, true)
	return above
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
