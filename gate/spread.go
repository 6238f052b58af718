package gate

import (
	"math"
	"slices"
)

// Sessions affect cases differently: a busy path varies more from day to day than an idle one. The change
// of case i on the log scale, less the common shift (shift.go), is modelled as
//
//	x_i = δ_i + ε_i,   ε_i ~ N(0, s_i² + v_i),   log s_i ~ N(log s, σ²),
//
// with δ_i the true change, v_i the variance of its launches (known), and s_i² twice the variance between
// sessions. The posterior of s and σ over a grid (s log-uniform, σ uniform) gives the predictive
// distribution of s_i², and with it the p-value of a change. It is a scale mixture of normal distributions
// (Andrews and Mallows, Journal of the Royal Statistical Society B 36, 1974), fitted as an empirical Bayes
// deconvolution (Efron, Two modeling strategies for empirical Bayes estimation, Statistical Science 29,
// 2014). Averaging over s and σ keeps tails wide if there are few cases.
//
// True changes would inflate the noise, and usually lie on one side of the shift. So a change is compared
// with the changes on the other side, which have the same noise (Barber and Candès, Controlling the false
// discovery rate via knockoffs, Annals of Statistics 43, 2015). If there are some on either side, the fit
// takes each change to be a true one with probability trueShare (two groups: Efron, Microarrays, Empirical
// Bayes and the Two-Groups Model, Statistical Science 23, 2008).

// spread is the distribution of the variance that sessions add to a change.
type spread struct{ variances, weights []float64 }

// The grid of s, relative to the scale of all changes, and of s_i.
const (
	finest     = 1. / 20 // smallest s, relative to the scale of the changes
	coarsest   = 5.      // largest s
	furthest   = 8.      // largest s_i, relative to the largest change
	gridStep   = 0.2     // between values of log s and log s_i
	mostValues = 200
)

// The fit takes a change to be a true one with probability trueShare. Its logarithm is uniform up to farthestTrue.
const (
	trueShare    = 0.1
	farthestTrue = 2 * math.Ln2
)

// spreadPriors are equally likely values of σ.
var spreadPriors = []float64{0.08, 0.15, 0.3, 0.45, 0.6, 0.8, 1, 1.2}

// deviation is the distance of a change from the common shift, with the variance of its launches.
type deviation struct{ x, variance float64 }

// spreads returns the spreads for changes below and above the shift, each fitted to the changes on the
// other side. scale is the standard deviation of most of them.
func spreads(all []deviation, scale float64) (below, above *spread) {
	var sizes, variances []float64
	for _, d := range all {
		sizes, variances = append(sizes, math.Abs(d.x)), append(variances, d.variance)
	}
	scale = max(scale, math.Sqrt(median(variances)), rounding)
	least := math.Log(scale * finest)
	most := math.Log(max(slices.Max(sizes), scale) * furthest)
	n := min(int((most-least)/gridStep)+2, mostValues)
	step := (most - least) / float64(n-1)
	grid := make([]float64, n) // log s_i
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

// normalMedian is the median absolute value of a standard normal variable.
const normalMedian = 0.6744897501960817

func fitted(data []deviation, grid []float64, scale float64) *spread {
	out := &spread{variances: make([]float64, len(grid)), weights: make([]float64, len(grid))}
	for b, g := range grid {
		out.variances[b] = math.Exp(2 * g)
	}
	likelihoods := make([][]float64, len(data)) // by change and s_i
	ofTrue := scale * math.Sqrt(2*math.Pi) / (2 * farthestTrue)
	for i, d := range data {
		likelihoods[i] = make([]float64, len(grid))
		for b, v := range out.variances {
			sum := v + d.variance
			ofNoise := math.Exp(-d.x*d.x/(2*sum)) * scale / math.Sqrt(sum)
			likelihoods[i][b] = (1-trueShare)*ofNoise + trueShare*ofTrue
		}
	}
	var logs []float64
	var mixtures [][]float64
	for _, sigma := range spreadPriors {
		for center := math.Log(scale * finest); center <= math.Log(scale*coarsest); center += gridStep {
			w := normalWeights(center, max(sigma, (grid[1]-grid[0])*0.4), grid)
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

// normalWeights are the weights of grid values under a normal distribution.
func normalWeights(center, sd float64, grid []float64) []float64 {
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

// negligible is a probability too small to affect tails.
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

// chance is the p-value of a distance x from a value with variance from, given the variance of launches.
func (s *spread) chance(x, from float64, launches meanSquare) (p float64) {
	for b, v := range s.variances {
		v += from
		p += s.weights[b] * 2 * quickTail(launches.within(v), math.Abs(x)/math.Sqrt(v+launches.value))
	}
	return min(1, p)
}

// quickTail approximates tail by a normal distribution, with a relative error below 1/1000 from five
// degrees of freedom on (Hill, Algorithm 395, Communications of the ACM 13, 1970): an interval evaluates
// it hundreds of times.
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

// within returns the degrees of freedom after adding a known variance (Satterthwaite); 0: enough that the
// normal distribution applies.
func (a meanSquare) within(known float64) float64 {
	sum := a.value + known
	df := sum * sum / (a.value * a.value) * a.df
	if a.df <= 0 || a.value == 0 || df > 1e6 {
		return 0
	}
	return df
}

// half is the half-width of the interval of a change.
func (s *spread) half(confidence float64, launches meanSquare) float64 {
	return s.halfFrom(confidence, 0, launches)
}

// halfFrom is half for the distance from a value with variance from: it solves chance(x) = 1 − confidence
// by false position (Illinois) on the log of the chance. A half-width that arithmetic alone may cause is 0: the
// cases do not vary.
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
		high = low
	}
	if high <= rounding {
		return 0
	}
	return high
}

// quantile is the variance that a share of cases does not exceed.
func (s *spread) quantile(share float64) float64 {
	sum := 0.
	for b, v := range s.variances {
		if sum += s.weights[b]; sum >= share {
			return v
		}
	}
	return s.variances[len(s.variances)-1]
}
