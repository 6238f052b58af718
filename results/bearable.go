package results

import (
	"math"

	"weir/assertion"
)

// Bears says whether a disturbance of a launch can change nothing of what is asserted: each assertion about the case
// is of a mean, a rate or a median of its own, and stands where it stands however much of the lost time is given
// back. Tails and what may be 0, as errors, are moved by nobody knows how much: they bear it below half of their upper
// bound. lost is a share of the time. Ranks that wait for each other lose it twice; what misses a bound must miss it by
// more than three times. What compares cases, as a trend, bears nothing. among are the assertions over several cases;
// define finds the definition of a metric.
func (c *Case) Bears(
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
		if !a.bears(l, -math.Log1p(-lost), define) {
			return false
		}
	}
	return asserted
}

// Powers of the factor by which a rank was slowed down, by which the value of a launch may have been moved.
const (
	movedWithin = 2 // of one within its bounds
	movedBeyond = 3 // of one beyond a bound
)

// bears says whether a launch's value can be moved by a factor, given as its logarithm, and stays where it is: within
// the bounds or beyond one of them.
func (a *AssertionVerdict) bears(l *Launch, factor float64, define func(metric string) (Metric, bool)) bool {
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
