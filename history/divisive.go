package history

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The detector is E-divisive of D. S. Matteson and N. A. James, A nonparametric
// approach for multiple change point analysis of multivariate data, JASA 109 (2014),
// arXiv:1306.4933, in the form that performance tests use it (D. Daly et al., The use
// of change point detection to identify software performance regressions in a
// continuous integration system, ICPE 2020): one value per session, exponent 1,
// each segment is cut in two, and the cut with the largest statistic stands if a
// permutation test says so.

// cut is a change between the values at-1 and at, with the p-value of its test.
type cut struct {
	at int
	p  float64
}

const (
	// LeastSegment is how many sessions a level has at least: one or two that stick out
	// are no change.
	LeastSegment = 3
	// permutations of a test: its least p-value is 1 in 1000.
	permutations = 999
)

// divide finds the changes in a series, ascending. significance is the p-value up to
// which a cut stands, between 0 and 1. The permutations follow from the seed alone, so
// that the same series has the same changes everywhere.
func divide(values []float64, significance float64, seed [2]uint64) []cut {
	source := rand.NewPCG(seed[0], seed[1])
	ends := []int{0, len(values)}
	var cuts []cut
	for {
		at, q := bestCut(values, ends)
		if at == 0 {
			break
		}
		p, ok := permuted(values, ends, q, significance, source)
		if !ok {
			break
		}
		cuts = append(cuts, cut{at, p})
		ends = append(ends, at)
		slices.Sort(ends)
	}
	slices.SortFunc(cuts, func(a, b cut) int { return a.at - b.at })
	return cuts
}

// bestCut is the cut with the largest statistic in any of the segments between ends;
// at is 0 if all are too short.
func bestCut(values []float64, ends []int) (at int, q float64) {
	q = math.Inf(-1)
	for i := 1; i < len(ends); i++ {
		if k, v := split(values[ends[i-1]:ends[i]]); k > 0 && v > q {
			at, q = ends[i-1]+k, v
		}
	}
	return at, q
}

// split finds the k for which x[:k] and x[k:] differ most: the largest
//
//	Q = mn/(m+n) · (2/(mn) ΣΣ|xi-yj| - ΣΣ|xi-xk| / (m choose 2) - ΣΣ|yj-yl| / (n choose 2))
//
// with m and n values before and after, sums over pairs (equations 5 to 7 of the paper). It is 0 if
// x is too short.
func split(x []float64) (k int, q float64) {
	if len(x) < 2*LeastSegment {
		return 0, 0
	}
	var before, between, after float64 // sums of distances
	for i := range x {
		for j := range i {
			after += math.Abs(x[i] - x[j])
		}
	}
	q = math.Inf(-1)
	for i, v := range x { // v goes from one side to the other
		var left, right float64
		for _, w := range x[:i] {
			left += math.Abs(v - w)
		}
		for _, w := range x[i+1:] {
			right += math.Abs(v - w)
		}
		before += left
		after -= right
		between += right - left
		m, n := float64(i+1), float64(len(x)-i-1)
		if i+1 < LeastSegment || len(x)-i-1 < LeastSegment {
			continue
		}
		if v := m * n / (m + n) * (2*between/(m*n) - 2*before/(m*(m-1)) - 2*after/(n*(n-1))); v > q {
			k, q = i+1, v
		}
	}
	return k, q
}

// permuted tests a statistic: p is the share of permutations within the segments whose
// best cut is as good, this one counted in. It stops as soon as p cannot be
// significant any more.
func permuted(values []float64, ends []int, q, significance float64, source *rand.PCG) (p float64, ok bool) {
	x := slices.Clone(values)
	as := 1
	limit := q - 1e-9*math.Abs(q) // sums in another order differ in their last bits
	for range permutations {
		for i := 1; i < len(ends); i++ {
			shuffle(x[ends[i-1]:ends[i]], source)
		}
		if _, other := bestCut(x, ends); other >= limit {
			as++
		}
		if float64(as)/(permutations+1) > significance {
			return 0, false
		}
	}
	return float64(as) / (permutations + 1), true
}

// shuffle is Fisher and Yates's, written out because its steps must stay as they are.
func shuffle(x []float64, source *rand.PCG) {
	for i := len(x) - 1; i > 0; i-- {
		j := int(source.Uint64() % uint64(i+1))
		x[i], x[j] = x[j], x[i]
	}
}
