package gate

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// A few launches estimate a case's variance poorly: Student's interval of three launches is five to nine
// standard deviations wide. If history knows the noise and the other cases of the run agree with it, the
// variance is moderated: an empirical Bayes estimate with more degrees of freedom.
//
// Source: G. K. Smyth, Linear models and empirical Bayes methods for assessing differential expression in
// microarray experiments, Statistical Applications in Genetics and Molecular Biology 3 (2004), article 3,
// sections 3 and 6.2.

// prior is the distribution of the ratio of case variances to historical ones: a scaled inverse
// chi-squared distribution.
type prior struct {
	scale, df float64 // df: +Inf if the cases differ by chance alone
}

// priorOf fits a prior to ratios of variances with their degrees of freedom, by the moments of their
// logarithms.
func priorOf(ratios, dfs []float64) (p prior, ok bool) {
	n := len(ratios)
	if n < assertion.LeastModerating {
		return p, false
	}
	e, mean, within := make([]float64, n), 0., 0.
	for i, r := range ratios {
		if !(r > 0) || dfs[i] <= 0 {
			return p, false
		}
		e[i] = math.Log(r) - mathext.Digamma(dfs[i]/2) + math.Log(dfs[i]/2)
		mean += e[i] / float64(n)
		within += trigamma(dfs[i]/2) / float64(n)
	}
	between := -within
	for _, v := range e {
		between += (v - mean) * (v - mean) / float64(n-1)
	}
	if between <= 0 {
		return prior{math.Exp(mean), math.Inf(1)}, true
	}
	half := trigammaInverse(between)
	return prior{math.Exp(mean + mathext.Digamma(half) - math.Log(half)), 2 * half}, true
}

// moderate returns a case's variance in units of the historical one, with its degrees of freedom, from the
// ratio of its own launches.
func (p prior) moderate(ratio, df float64) (moderated, all float64) {
	scale := max(p.scale, 1) // history is a floor
	if math.IsInf(p.df, 1) {
		return scale, p.df
	}
	return (p.df*scale + df*ratio) / (p.df + df), p.df + df
}

// trigamma is the second derivative of the logarithm of the gamma function: Hurwitz's zeta function of 2.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// trigammaInverse uses Newton's method on 1/trigamma, which is convex (Smyth 2004, appendix).
func trigammaInverse(y float64) float64 {
	switch {
	case y > 1e7:
		return 1 / math.Sqrt(y)
	case y < 1e-6:
		return 1 / y
	}
	x := 0.5 + 1/y
	for range 50 {
		tri := trigamma(x)
		step := tri * (1 - tri/y) / (-2 * mathext.Zeta(3, x)) // derivative of trigamma
		x += step
		if -step/x < 1e-8 {
			break
		}
	}
	return x
}

// moderated returns the interval of a case with known noise by its moderated variance; nil if the other
// cases give too little information.
func (eval *evaluator) moderated(
	check boundCheck, c *results.Case, atLaunch int, logs []float64, known *noise, at interval,
) interval {
	if known.sd <= 0 || known.pooled || len(logs) < 2 {
		return nil
	}
	var ratios, dfs []float64
	for _, s := range eval.caseVariances(c, check.subject, check.unit, atLaunch) {
		if s.key != c.Key && s.known > 0 && s.squares > 0 {
			ratios, dfs = append(ratios, s.squares/s.df/(s.known*s.known)), append(dfs, s.df)
		}
	}
	p, ok := priorOf(ratios, dfs)
	if !ok {
		return nil
	}
	_, sd := moments(logs)
	ratio, df := p.moderate(sd*sd/(known.sd*known.sd), float64(len(logs)-1))
	moderated := &noise{sd: assertion.ModeratedRoom * known.sd * math.Sqrt(ratio), df: df}
	return func(confidence float64) estimate {
		e := at(confidence)
		lo, hi := moderated.interval(e, confidence)
		e.lo, e.hi = max(e.lo, lo), min(e.hi, hi)
		return e
	}
}

// knownOf is the standard deviation of a metric of a case that was known before the session, by history or
// references; 0: none.
func (eval *evaluator) knownOf(c *results.Case, metric string) float64 {
	if n := eval.stored(nil, c.Key, metric); n != nil {
		return n.Launch
	}
	for _, a := range c.Assertions {
		if n := eval.stored(a.Noise, c.Key, metric); n != nil {
			return n.Launch
		}
	}
	return 0
}
