package assertion

import "math"

// Spent is the part of an assertion's error budget that the interim analysis after n launches may spend.
//
// Each analysis is a chance to be wrong. The error on a side, (1 − confidence)/2, is distributed over the
// analyses by a spending function of Lan and DeMets (Biometrika 70, 1983) that follows Pocock's test,
//
//	f(n) = ln(1 + (e − 1)·n/N)   of at most N launches,
//
// so that the analysis after n launches may spend f(n) − f(n'), n' being the previous one. No credit is
// taken for the correlation of analyses, so the result holds for any statistic and any number of launches.
// (Normal-theory boundaries spend 2.2 % instead of 2 %, because variances of three launches are not those
// of twelve.)
//
// Launches beyond the last analysis have a budget of a quarter of the first, of which the k-th extra
// launch may spend 1/(k(k+1)). These add up to one, so any number of them is allowed.
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

// beyondLast is the additional budget of launches beyond the last analysis.
const beyondLast = 0.25

// ConfidenceAt is the confidence of the interval after n launches, given the confidence of all analyses
// together.
func ConfidenceAt(confidence float64, looks []int, n int) float64 {
	return 1 - (1-confidence)*Spent(looks, n)
}
