package assertion

import "math"

// Spent is the part of an assertion's error budget that the look after n launches may spend.
//
// An assertion may be decided at each of its looks, and each look is a chance to be
// wrong. The error that its confidence leaves to a side, (1 − confidence)/2, is spent
// over the looks by a spending function of Lan and DeMets (Biometrika 70, 1983) that
// follows Pocock's test,
//
//	f(n) = ln(1 + (e − 1)·n/N)   of N launches at most,
//
// so that a look after n launches may err with f(n) − f(n') of it, n' being the look
// before. Each part is spent outright: nothing is won back because looks at the same
// launches err together, which holds for every statistic that is judged here and for
// however few launches. (Boundaries of normal theory spend 2.2 % where they promise 2 %,
// because variances of three launches are not those of twelve.)
//
// Launches beyond the last look, which somebody made by hand, have a budget of their own:
// a quarter of the first, of which the k-th launch more may spend 1/(k(k+1)). The sum over
// all k is one, so that one may look as often as one likes.
func Spent(looks []int, n int) float64 {
	if len(looks) == 0 {
		return 1
	}
	last, before := looks[0], 0
	for _, l := range looks {
		last = max(last, l)
		if l < n {
			before = max(before, l)
		}
	}
	if n > last {
		k := float64(n - last)
		return beyondLast / (k * (k + 1))
	}
	f := func(n int) float64 { return math.Log1p((math.E - 1) * float64(n) / float64(last)) }
	return f(n) - f(before)
}

// beyondLast is the part of the budget that launches beyond the last look have in addition.
const beyondLast = 0.25

// AtLook is the confidence of an interval at the look after n launches, of all looks
// together being that which is given.
func AtLook(confidence float64, looks []int, n int) float64 {
	return 1 - (1-confidence)*Spent(looks, n)
}
