package gate

import (
	"math"

	"github.com/weir-bench/weir/results"
)

// nested are logarithms of a metric by node set, session and launch.
type nested [][][]float64

// components are the variance components of launches, sessions and node sets, by the analysis of variance
// of an unbalanced nested random model (Henderson's method I): mean squares are set equal to their
// expectations,
//
//	E MSE = σe²
//	E MSB = σe² + k₁·σb²            k₁ = (N − Σ_i Σ_j n_ij²/n_i) / (b − a)
//	E MSA = σe² + k₂·σb² + k₃·σa²   k₂ = (Σ_i Σ_j n_ij²/n_i − Σ_ij n_ij²/N) / (a − 1)
//	k₃ = (N − Σ_i n_i²/N) / (a − 1)
//
// for a node sets, b sessions and N launches. With sessions of one node set only, or one session for each,
// it is the one-way model of sessions (k₁ = (N − Σ n_j²/N)/(b−1)). Negative components are reported as
// zero. Sources: Henderson, Biometrics 9 (1953); Searle, Casella and McCulloch, Variance Components
// (1992), 3.6 and 5.3.
type components struct {
	node, session, launch meanSquare
	k1, k2, k3            float64
	mean                  float64 // mean of the sessions' means
	counts                [][]float64
	sessions, launches    int
}

type meanSquare struct{ value, df float64 }

// plus returns the sum of two independently estimated variances, with Satterthwaite's degrees of freedom;
// 0 degrees of freedom mean an exact variance.
func (a meanSquare) plus(b meanSquare) meanSquare {
	sum, welch := meanSquare{value: a.value + b.value}, 0.
	for _, m := range []meanSquare{a, b} {
		if m.df > 0 {
			welch += m.value * m.value / m.df
		}
	}
	if welch > 0 {
		sum.df = sum.value * sum.value / welch
	}
	return sum
}

// half is the half-width of an interval of this variance.
func (a meanSquare) half(confidence float64) float64 {
	if a.value <= 0 {
		return 0
	}
	return quantileOf(a.df, confidence) * math.Sqrt(a.value)
}

func componentsOf(data nested) components {
	if data = separable(data); len(data) == 0 {
		return components{}
	}
	c := components{}
	total, grand, ofSets, ofSessions := 0.0, 0.0, 0.0, 0.0 // N, Σx, and sums of squares of counts over sums
	squares := 0.0                                         // Σ n_ij²
	setSquares := 0.0                                      // Σ n_i²
	means := make([][]float64, len(data))
	for i, set := range data {
		n := 0.0
		var counts []float64
		for _, values := range set {
			m, sd := moments(values)
			k := float64(len(values))
			means[i], counts = append(means[i], m), append(counts, k)
			c.launch.value += sd * sd * (k - 1)
			c.launch.df += k - 1
			c.mean += m
			grand += m * k
			n += k
			squares += k * k
			c.sessions++
			c.launches += len(values)
		}
		for _, k := range counts {
			ofSets += k * k / n
		}
		setSquares += n * n
		total += n
		c.counts = append(c.counts, counts)
	}
	c.mean /= float64(c.sessions)
	grand /= total
	for i, counts := range c.counts {
		n, mean := 0.0, 0.0
		for j, k := range counts {
			n += k
			mean += means[i][j] * k
		}
		mean /= n
		for j, k := range counts {
			ofSessions += k * (means[i][j] - mean) * (means[i][j] - mean)
		}
		c.node.value += n * (mean - grand) * (mean - grand)
	}
	c.session = meanSquare{ofSessions, float64(c.sessions - len(data))}
	c.node.df = float64(len(data) - 1)
	for _, ms := range []*meanSquare{&c.launch, &c.session, &c.node} {
		if ms.df > 0 {
			ms.value /= ms.df
		}
	}
	if c.session.df > 0 {
		c.k1 = (total - ofSets) / c.session.df
	}
	if c.node.df > 0 {
		c.k2 = (ofSets - squares/total) / c.node.df
		c.k3 = (total - setSquares/total) / c.node.df
	}
	return c
}

// separable merges the node sets if each has one session, because node sets and sessions are confounded
// then.
func separable(data nested) nested {
	sessions := 0
	for _, set := range data {
		sessions += len(set)
	}
	if sessions > len(data) || len(data) < 2 {
		return data
	}
	var all [][]float64
	for _, set := range data {
		all = append(all, set...)
	}
	return nested{all}
}

// noise returns the components as coefficients of variation, without those that the data cannot separate.
func (c components) noise() []results.Component {
	out := []results.Component{{Of: "launches", CV: math.Sqrt(c.launch.value), DF: c.launch.df}}
	if c.session.df > 0 {
		cv, df := c.sessionNoise()
		out = append(out, results.Component{Of: "sessions", CV: cv, DF: df})
	}
	if c.node.df > 0 {
		v := (c.node.value - c.launch.value - c.k2*c.sessionVariance()) / c.k3
		out = append(out, results.Component{Of: "nodes", CV: math.Sqrt(max(0, v))})
	}
	return out
}

// sessionDF returns the degrees of freedom of the variance of sessions: Satterthwaite's for the difference
// of two mean squares, at least one.
func (c components) sessionDF() float64 {
	b, e := c.session.value, c.launch.value
	welch := b * b / c.session.df
	if c.launch.df > 0 {
		welch += e * e / c.launch.df
	}
	if welch == 0 {
		return c.session.df
	}
	return max(1, (b-e)*(b-e)/welch)
}

// leastSessions are needed to tell the variance between sessions from that of launches. Of fewer the difference of the
// two is often 0 by chance, so that of their means is taken, as of sessions beside a baseline.
const leastSessions = 5

// sessionNoise is what verdicts know of how sessions vary, with its degrees of freedom.
func (c components) sessionNoise() (sd, df float64) {
	if c.sessions < leastSessions {
		return math.Sqrt(c.session.value / c.k1), c.session.df
	}
	return math.Sqrt(max(0, c.sessionVariance())), c.session.df
}

func (c components) sessionVariance() float64 {
	return (c.session.value - c.launch.value) / c.k1
}

// predictionHalfWidth is half of the prediction interval, on the log scale, for the mean of a new session
// of n launches. The variance of its distance from the mean found here is
//
//	V = cₐ·σa² + c_b·σb² + c_e·σe²
//	cₐ = 1 + Σ_i (b_i/b)², c_b = 1 + 1/b, c_e = 1/n + Σ_ij 1/(b²·n_ij),
//
// a sum of mean squares with known factors and Satterthwaite's degrees of freedom (Biometrics Bulletin 2,
// 1946). The approximation is poor for differences, so mean squares with negative factors are dropped,
// which errs to the safe side. A negative component would make V too small with too many degrees of
// freedom, so the result is the largest of three distances: by launches, by launches and sessions, and by
// all. df > 0 is a lower limit of the degrees of freedom: what more sessions of the same noise would give.
func (c components) predictionHalfWidth(n int, confidence, df float64) float64 {
	b := float64(c.sessions)
	ca, cb, ce := 1.0, 1+1/b, 1/float64(n)
	for _, counts := range c.counts {
		share := float64(len(counts)) / b
		ca += share * share
		for _, k := range counts {
			ce += 1 / (b * b * k)
		}
	}
	farthest := 0.0
	consider := func(factors []float64, squares []meanSquare) {
		v, welch := 0.0, 0.0
		for i, f := range factors {
			part := max(0, f) * squares[i].value
			v += part
			welch += part * part / squares[i].df
		}
		if v > 0 {
			farthest = max(farthest, student(max(v*v/welch, df), confidence)*math.Sqrt(v))
		}
	}
	consider([]float64{ce}, []meanSquare{c.launch})
	if c.session.df > 0 {
		f := cb / c.k1
		consider([]float64{f, ce - f}, []meanSquare{c.session, c.launch})
	}
	if c.session.df > 0 && c.node.df > 0 {
		f := ca / c.k3
		g := (cb - f*c.k2) / c.k1
		consider([]float64{f, g, ce - f - max(0, g)}, []meanSquare{c.node, c.session, c.launch})
	}
	return farthest
}
