package results

import (
	"math"

	"github.com/weir-bench/weir/results/assertion"
)

// Tolerates reports whether a disturbance of a launch cannot change any verdict of the case. Each
// assertion must be on a mean, rate or median of the case itself, and keep its position if the lost share
// of time is given back: twice within the bounds, because ranks wait for each other, and three times
// beyond one. Tails and metrics that may be 0, such as errors, must be below half of their upper bound.
// Assertions over several cases (among) tolerate nothing. define returns the definition of a metric.
func (c *Case) Tolerates(
	l *Launch, lost float64, among []*AssertionVerdict, define func(metric string) (Metric, bool),
) bool {
	if lost >= 1 {
		return false
	}
	for _, a := range among {
		for _, key := range a.Cases {
			if key == c.Key && a.Severity != assertion.Info {
				return false
			}
		}
	}
	asserted := false
	for _, a := range c.Assertions {
		if a.Severity == assertion.Info {
			continue
		}
		asserted = true
		if !a.tolerates(l, -math.Log1p(-lost), define) {
			return false
		}
	}
	return asserted
}

// Powers of the slowdown factor of a rank by which a value may have moved.
const (
	movedWithin = 2 // for values within the bounds
	movedBeyond = 3 // for values beyond a bound
)

// tolerates reports whether a launch's value keeps its position relative to the bounds if moved by a
// factor, given as its logarithm.
func (a *AssertionVerdict) tolerates(l *Launch, factor float64, define func(metric string) (Metric, bool)) bool {
	if a.Subject == nil || len(a.Parts) > 0 {
		return false
	}
	v, err := a.Subject.Eval(l.Metrics.Get, a.Unit)
	if err != nil || !(v >= 0) {
		return false
	}
	moved := false
	for _, leaf := range a.Subject.Leaves() {
		m, known := define(leaf.Metric)
		switch {
		case leaf.Case != "" || leaf.Baseline || !known:
			return false
		case m.Fixed:
			continue
		case m.Tail() || m.Last() == "max" || m.MayBeZero:
			return a.Subject.Op == assertion.Metric && a.Bounds.Lower == nil && a.Bounds.Upper != nil &&
				v <= *a.Bounds.Upper/2
		}
		moved = true
	}
	if !moved {
		return true
	}
	within := func(v float64) bool {
		return (a.Bounds.Lower == nil || v >= *a.Bounds.Lower) && (a.Bounds.Upper == nil || v <= *a.Bounds.Upper)
	}
	if within(v) {
		return within(v*math.Exp(-movedWithin*factor)) && within(v*math.Exp(movedWithin*factor))
	}
	beyond := math.Exp(movedBeyond * factor)
	return a.Bounds.Lower != nil && v*beyond < *a.Bounds.Lower || a.Bounds.Upper != nil && v > *a.Bounds.Upper*beyond
}
