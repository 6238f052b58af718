package gate

import (
	"math"
	"slices"
)

// Cases differ in how much sessions move them: a busy path varies by more from day to day than an idle one. Let
// the change of case i, on the log scale and less the shift that all cases share (shift.go), be
//
//	x_i = δ_i + ε_i,   ε_i ~ N(0, s_i² + v_i),   log s_i ~ N(log s, σ²),
//
// with δ_i the true change, v_i the variance of its launches, which is known case by case, and s_i² what sessions
// add, twice their variance. s and σ are unknown: their posterior over a grid (s log-uniform, σ uniform) gives
// the predictive distribution of the s² of a case, and with that the probability of a change as large by chance.
// It is a scale mixture of normal distributions (Andrews and Mallows, Journal of the Royal Statistical
// Society B 36, 1974), fitted as an empirical Bayes deconvolution (Efron, Two modeling strategies for empirical
// Bayes estimation, Statistical Science 29, 2014). That s and σ are averaged over and not estimated keeps
// tails wide where few cases say little of them.
//
// Cases that did change would make the noise look large, and one side of the shift usually has them all. So a
// change is held against the changes on the other side, which are as noisy and have none of its kind
// (Barber and Candès, Controlling the false discovery rate via knockoffs, Annals of Statistics 43, 2015).

// spread is what sessions may add to the variance of a change, each value with its probability.
type spread struct{ variances, weights []float64 }

// The grid: s from a part of the scale of all changes to a multiple of it, and s_i as far as changes may be.
const (
	finest     = 1. / 20 // the least s, as a part of the scale of the changes
	coarsest   = 5.      // the largest s
	furthest   = 8.      // the largest s_i, as a multiple of the largest change
	gridStep   = 0.2     // between values of log s and log s_i
	mostValues = 200
)

// unequal are values of σ that are thought equally likely.
var unequal = []float64{0.08, 0.15, 0.3, 0.45, 0.6, 0.8, 1, 1.2}

// deviation is how far a change lies from the shift of all, with the variance of its launches.
type deviation struct{ x, variance float64 }

// spreads are those to hold changes below and above the shift against: each is fitted to the changes on the other side.
func spreads(all []deviation) (below, above *spread) {
	var sizes, variances []float64
	for _, d := range all {
		sizes, variances = append(sizes, math.Abs(d.x)), append(variances, d.variance)
	}
	scale := max(median(sizes)/normalMedian, math.Sqrt(median(variances)), rounding)
	least := math.Log(scale * finest)
	most := math.Log(max(slices.Max(sizes), scale) * furthest)
	n := min(int((most-least)/gridStep)+2, mostValues)
	step := (most - least) / float64(n-1)
	grid := make([]float64, n) // of log s_i
	for b := range grid {
		grid[b] = least + step*float64(b)
	}
	var low, high []deviation
	for _, d := range all {
		if d.x <= 0 {
			low = append(low, d)
		}
		if d.x >= 0 {
			high = append(high, d)
		}
	}
	return fitted(high, grid, scale), fitted(low, grid, scale)
}

// normalMedian is the median of the absolute value of a standard normal variable.
const normalMedian = 0.6744897501960817

func fitted(data []deviation, grid []float64, scale float64) *spread {
	out := &spread{variances: make([]float64, len(grid)), weights: make([]float64, len(grid))}
	for b, g := range grid {
		out.variances[b] = math.Exp(2 * g)
	}
	likelihoods := make([][]float64, len(data)) // of each change, with each s_i
	for i, d := range data {
		likelihoods[i] = make([]float64, len(grid))
		for b, v := range out.variances {
			sum := v + d.variance
			likelihoods[i][b] = math.Exp(-d.x*d.x/(2*sum)) * scale / math.Sqrt(sum)
		}
	}
	var logs []float64
	var mixtures [][]float64
	for _, sigma := range unequal {
		for center := math.Log(scale * finest); center <= math.Log(scale*coarsest); center += gridStep {
			w := around(center, max(sigma, (grid[1]-grid[0])*0.4), grid)
			logs, mixtures = append(logs, logLikelihood(likelihoods, w)), append(mixtures, w)
		}
	}
	best, sum := slices.Max(logs), 0.
	for i, l := range logs {
		p := math.Exp(l - best)
		sum += p
		for b, w := range mixtures[i] {
			out.weights[b] += p * w
		}
	}
	return out.normalized(sum)
}

// around are normal weights of the values of a grid.
func around(center, sd float64, grid []float64) []float64 {
	w, sum := make([]float64, len(grid)), 0.
	for b, g := range grid {
		z := (g - center) / sd
		w[b] = math.Exp(-z * z / 2)
		sum += w[b]
	}
	for b := range w {
		w[b] /= sum
	}
	return w
}

func logLikelihood(likelihoods [][]float64, w []float64) (sum float64) {
	for _, one := range likelihoods {
		p := 0.
		for b, l := range one {
			p += w[b] * l
		}
		sum += math.Log(max(p, math.SmallestNonzeroFloat64))
	}
	return sum
}

// negligible is the probability of a variance that no tail needs.
const negligible = 1e-8

func (s *spread) normalized(sum float64) *spread {
	out := &spread{}
	for b, w := range s.weights {
		if w/sum > negligible {
			out.variances, out.weights = append(out.variances, s.variances[b]), append(out.weights, w/sum)
		}
	}
	return out
}

// chance is the probability of a change at least as far from one that is known with a variance, if launches have
// theirs.
func (s *spread) chance(x, from float64, launches meanSquare) (p float64) {
	for b, v := range s.variances {
		v += from
		p += s.weights[b] * 2 * quickTail(launches.within(v), math.Abs(x)/math.Sqrt(v+launches.value))
	}
	return min(1, p)
}

// quickTail is tail by a normal approximation whose error is below a thousandth of it from five degrees of freedom
// on (Hill, Algorithm 395, Communications of the ACM 13, 1970): an interval asks for it hundreds of times.
func quickTail(df, t float64) float64 {
	if df < 5 {
		return tail(df, t)
	}
	a := df - 0.5
	b := 48 * a * a
	y := a * math.Log1p(t*t/df)
	z := (((((-0.4*y-3.3)*y-24)*y-85.5)/(0.8*y*y+100+b)+y+3)/b + 1) * math.Sqrt(y)
	return math.Erfc(z/math.Sqrt2) / 2
}

// within are the degrees of freedom of a sum with a variance that is known (Satterthwaite), 0 where they are very many.
func (a meanSquare) within(known float64) float64 {
	sum := a.value + known
	df := sum * sum / (a.value * a.value) * a.df
	if a.df <= 0 || a.value == 0 || df > 1e6 {
		return 0
	}
	return df
}

// half is half of the width of an interval of a change.
func (s *spread) half(confidence float64, launches meanSquare) float64 {
	return s.halfFrom(confidence, 0, launches)
}

// halfFrom is that of the difference from what is known with a variance: the x with this chance, found by false
// position (Illinois) on the logarithm of the chance.
func (s *spread) halfFrom(confidence, from float64, launches meanSquare) float64 {
	want := math.Log(1 - confidence)
	far := func(x float64) float64 { return math.Log(s.chance(x, from, launches)) - want }
	low, high := 0., math.Sqrt(s.quantile(0.5)+from+launches.value)
	for far(high) > 0 {
		low, high = high, 2*high
	}
	fLow, fHigh := far(low), far(high)
	for range 100 {
		if high-low <= 1e-10*high || fLow == 0 || fHigh == 0 {
			break
		}
		x := (low*fHigh - high*fLow) / (fHigh - fLow)
		if x <= low || x >= high {
			x = low/2 + high/2
		}
		switch f := far(x); {
		case f > 0:
			low, fLow, fHigh = x, f, fHigh/2
		default:
			high, fHigh, fLow = x, f, fLow/2
		}
	}
	if fLow == 0 {
		return low
	}
	return high
}

// quantile is the variance that a share of cases stays below.
func (s *spread) quantile(share float64) float64 {
	sum := 0.
	for b, v := range s.variances {
		if sum += s.weights[b]; sum >= share {
			return v
		}
	}
	return s.variances[len(s.variances)-1]
}
