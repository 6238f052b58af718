package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// The detector is a generalised likelihood ratio test, repeated after each session (D. Siegmund and E. S.
// Venkatraman, Using the generalized likelihood ratio statistic for sequential detection of a
// change-point, Annals of Statistics 23, 1995), for levels with autocorrelated noise; the correlation is
// estimated under both hypotheses (M. Robbins, C. Gallagher, R. Lund and A. Aue, Mean shift testing in
// correlated data, Journal of Time Series Analysis 32, 2011). After an alarm the search continues from the
// new level.
//
// A segmentation of the whole series, by E-divisive, PELT or binary segmentation, would be recomputed with
// each session and would forget repaired regressions. This detector uses only earlier sessions, so that no
// later session retracts an alarm.

// changePoint is a change between the values at-1 and at.
type changePoint struct {
	at       int
	first    int     // at when it was found
	reported int     // index of the value with which it became large enough to report; 0: never
	p        float64 // see pOf
}

const (
	// LeastSegment is the minimum number of sessions of a level: fewer are outliers, not a change.
	LeastSegment = 3
	// FirstLook is the number of sessions needed before the first test.
	FirstLook = 8
	// levelsInFit is how many of the latest levels are used to estimate the noise; the computing time is
	// quadratic in it.
	levelsInFit = 5
)

// detectChanges finds the changes in a series with a p-value of at most significance, ascending, and the drifts.
// Changes that reach the magnitude, then or with later sessions, are reported. It depends on the values alone.
func detectChanges(s series, significance, magnitude float64) (cuts []changePoint, drifts []drift) {
	for n := FirstLook; n <= len(s.values); n++ {
		now := s.upTo(n)
		if last := len(cuts) - 1; last >= 0 {
			// Later sessions locate the last change better, except the newest ones, which may belong to a new level.
			near, known := cuts[last].first, s.upTo(n-LeastSegment+1)
			at, _ := known.best(cuts[:last], near-LeastSegment, near+LeastSegment)
			if at > 0 && len(known.values) >= cuts[last].at+LeastSegment { // else it cannot be where it is now
				cuts[last].at = at
			}
		}
		at, ratio := now.best(cuts, 0, n)
		line := now.slope(cuts)
		line.p = min(1, shareOfDrifts*pOf(slopes, line.ratio, n))
		switch p := pOf(statistics, ratio, n); {
		case line.p <= significance && line.ratio > ratio: // a line explains more than one more change
			if relativeDistance(line.ends(now)) >= magnitude {
				drifts = line.joined(drifts)
			}
		case at > 0 && p <= significance && now.lasts(cuts, at):
			cuts = append(cuts, changePoint{at: at, first: at, p: p})
		}
		for _, c := range dropSmall(cuts, now, magnitude) {
			i := slices.IndexFunc(cuts, func(other changePoint) bool { return other.at == c.at })
			if cuts[i].reported == 0 {
				cuts[i].reported = n - 1
			}
		}
	}
	return cuts, drifts
}

// lasts reports whether a change is more than an outlier: both sides of the midpoint between the levels
// have at least LeastSegment sessions.
func (s series) lasts(cuts []changePoint, at int) bool {
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

// best returns the position within low and high of the best additional change after the last one, with the
// statistic; 0 if there is no room.
//
// The statistic is twice the log likelihood ratio with a small-sample correction (n-m-3 instead of n, with
// m levels before the change).
func (s series) best(cuts []changePoint, low, high int) (at int, ratio float64) {
	recent, starts, offset := s.recent(cuts)
	if at, ratio = recent.bestOf(starts, low-offset, high-offset); at > 0 {
		at += offset
	}
	return at, ratio
}

// recent returns the part of the series that the fit uses, where its levels start in it, and its offset.
func (s series) recent(cuts []changePoint) (part series, starts []int, offset int) {
	starts = []int{0}
	for _, c := range cuts {
		starts = append(starts, c.at)
	}
	if from := len(starts) - levelsInFit; from > 0 {
		starts, offset = starts[from:], starts[from]
	}
	starts = slices.Clone(starts)
	for i := range starts {
		starts[i] -= offset
	}
	return s.from(offset), starts, offset
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

// exceeded is a probability with which a statistic is exceeded.
type exceeded struct{ p, ratio float64 }

// statistics are exceeded with these probabilities, at any session, in series of 30 sessions without a
// change and with autocorrelation 0.5. A test simulates them.
var statistics = []exceeded{
	{0.1, 11.2}, {0.05, 12.7}, {0.02, 14.4}, {0.01, 15.9}, {0.001, 20},
}

// calibrated is the number of sessions behind statistics.
const calibrated = 30

// slopes are those of the statistic of a line.
var slopes = []exceeded{
	{0.1, 7.7}, {0.05, 9.2}, {0.02, 11.05}, {0.01, 12.35}, {0.001, 16.4},
}

// shareOfDrifts makes false alarms of drifts a fifth of those of changes, since both add up. True ones are far more
// significant.
const shareOfDrifts = 5

// pOf is the probability that a series without a change reaches a statistic by its n-th session; its
// logarithm is nearly linear in the statistic. Beyond 30 sessions it is multiplied by (n/30)², so that
// false alarms over all sessions add up to a finite share, because the sum of 1/n² is finite.
func pOf(statistics []exceeded, ratio float64, n int) float64 {
	i := 1
	for i < len(statistics)-1 && statistics[i].ratio < ratio {
		i++
	}
	a, b := statistics[i-1], statistics[i]
	slope := math.Log(b.p/a.p) / (b.ratio - a.ratio)
	longer := max(1, float64(n)/calibrated)
	return min(1, longer*longer*a.p*math.Exp(slope*(ratio-a.ratio)))
}
