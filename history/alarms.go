package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// The detector is the generalised likelihood ratio test, made again after each session (D. Siegmund
// and E. S. Venkatraman, Using the generalized likelihood ratio statistic for sequential detection
// of a change-point, Annals of Statistics 23, 1995), for levels with autocorrelated noise, whose
// correlation is estimated in both hypotheses (M. Robbins, C. Gallagher, R. Lund and A. Aue, Mean
// shift testing in correlated data, Journal of Time Series Analysis 32, 2011). After an alarm the
// search goes on from the new level.
//
// A segmentation of the whole series, by E-divisive, PELT or binary segmentation, is made anew with
// each session and forgets what it found before: a regression that was repaired is seen while it
// lasts and no longer. This one looks at a session only with those before it, so that no later one
// takes an alarm back.

// cut is a change between the values at-1 and at.
type cut struct {
	at     int
	first  int     // at, as it was found
	raised int     // the value with which it was also large enough to report; 0: it never was
	p      float64 // see pOf
}

const (
	// LeastSegment is how many sessions a level has at least: one or two that stick out
	// are no change.
	LeastSegment = 3
	// FirstLook is how many sessions there are before a change is looked for.
	FirstLook = 8
	// levelsInFit is how many of the last levels say what noise there is: that of years ago says
	// little, and time grows with the square of it.
	levelsInFit = 5
)

// divide finds the changes in a series, ascending: those whose p-value is at most significance.
// Those that are as large as magnitude asks for, then or after later sessions, are raised. It
// depends on the values alone.
func divide(s series, significance, magnitude float64) []cut {
	var cuts []cut
	for n := FirstLook; n <= len(s.values); n++ {
		now := s.upTo(n)
		if last := len(cuts) - 1; last >= 0 {
			// Later sessions say better where the last one is, but for the newest, which may be of
			// another level that is not found yet.
			near, known := cuts[last].first, s.upTo(n-LeastSegment+1)
			if at, _ := known.best(cuts[:last], near-LeastSegment, near+LeastSegment); at > 0 {
				cuts[last].at = at
			}
		}
		if at, ratio := now.best(cuts, 0, n); at > 0 && pOf(ratio, n) <= significance && now.lasts(cuts, at) {
			cuts = append(cuts, cut{at: at, first: at, p: pOf(ratio, n)})
		}
		for _, c := range large(cuts, now, magnitude) {
			i := slices.IndexFunc(cuts, func(other cut) bool { return other.at == c.at })
			if cuts[i].raised == 0 {
				cuts[i].raised = n - 1
			}
		}
	}
	return cuts
}

// lasts says whether a change is more than one or two sessions that stick out: on both sides of the
// middle between the levels lie as many sessions as a level has at least.
func (s series) lasts(cuts []cut, at int) bool {
	before, after := s.values[:at], s.values[at:]
	if last := len(cuts) - 1; last >= 0 {
		before = before[cuts[last].at:]
	}
	was, is := stat.Mean(before, nil), stat.Mean(after, nil)
	beyond := func(values []float64, level float64) (n int) {
		for _, v := range values {
			if (v > (was+is)/2) == (level > (was+is)/2) {
				n++
			}
		}
		return n
	}
	return beyond(before, was) >= LeastSegment && beyond(after, is) >= LeastSegment
}

// best is the place within low and high where one more change, after the last one, explains the
// series best, with the statistic; 0 where there is no room for one.
//
// The statistic is twice the logarithm of the likelihood ratio, less what small samples add to it
// (n-m-3 instead of n, m being the number of levels without the change).
func (s series) best(cuts []cut, low, high int) (at int, ratio float64) {
	starts := []int{0}
	for _, c := range cuts {
		starts = append(starts, c.at)
	}
	if from := len(starts) - levelsInFit; from > 0 {
		offset := starts[from]
		at, ratio = s.from(offset).bestOf(shifted(starts[from:], offset), low-offset, high-offset)
		if at > 0 {
			at += offset
		}
		return at, ratio
	}
	return s.bestOf(starts, low, high)
}

func shifted(starts []int, by int) []int {
	out := slices.Clone(starts)
	for i := range out {
		out[i] -= by
	}
	return out
}

// bestOf is best for levels that start at these values, the first of them at 0.
func (s series) bestOf(starts []int, low, high int) (at int, ratio float64) {
	n := len(s.values)
	first, last := max(low, starts[len(starts)-1]+LeastSegment), min(high, n-LeastSegment)
	if first > last {
		return 0, 0
	}
	without, with := math.Inf(-1), math.Inf(-1)
	for _, rho := range autocorrelations {
		f := s.fit(starts, rho)
		without = max(without, f.likelihood(f.squares))
		k, explained := first, 0.
		for i := first; i <= last; i++ {
			if e := f.explained(i); e > explained {
				k, explained = i, e
			}
		}
		if l := f.likelihood(f.squares - explained); l > with {
			at, with = k, l
		}
	}
	return at, max(0, 2*(with-without)*float64(n-len(starts)-3)/float64(n))
}

// statistics are those that series of 30 sessions without a change, whose autocorrelation is 0.5, reach
// at some session with these probabilities. A test simulates them.
var statistics = []struct{ p, ratio float64 }{
	{0.1, 11.2}, {0.05, 12.7}, {0.02, 14.4}, {0.01, 15.9}, {0.001, 20},
}

// calibrated is how many sessions the series of statistics have.
const calibrated = 30

// pOf is the probability that a series without a change reaches a statistic by its n-th session: its
// logarithm is nearly linear in the statistic. Behind the thirtieth session it is multiplied by
// (n/30)², so that the false alarms of later sessions add up to a finite share, however many
// there are: the sum of 1/n² is finite.
func pOf(ratio float64, n int) float64 {
	i := 1
	for i < len(statistics)-1 && statistics[i].ratio < ratio {
		i++
	}
	a, b := statistics[i-1], statistics[i]
	slope := math.Log(b.p/a.p) / (b.ratio - a.ratio)
	longer := max(1, float64(n)/calibrated)
	return min(1, longer*longer*a.p*math.Exp(slope*(ratio-a.ratio)))
}
