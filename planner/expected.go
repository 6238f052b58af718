// Expected numbers of launches, by simulation.

package planner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Assumptions before anything is measured, as in the operating characteristics of verdicts (weir
// docs statistics): launches vary by 3 %, and the true value is 10 % from a one-sided bound.
const (
	assumedNoise  = 0.03
	assumedMargin = 0.1
	mostPooled    = 64
	// simulatedSessions gives a standard error of about 0.05 launches.
	simulatedSessions = 2000
)

// forecast is the forecast of when the assertions of a case, or of several, will be decided if they
// hold.
type forecast struct {
	decided     []float64 // by look: the probability that all simulated assertions are decided; nil: there are none
	unsimulated bool      // the others need the first look or the second
}

// join adds independent assertions that must also be decided.
func (p *forecast) join(o *forecast) {
	p.unsimulated = p.unsimulated || o.unsimulated
	if o.decided == nil {
		return
	}
	if p.decided == nil {
		p.decided = slices.Repeat([]float64{1}, len(o.decided))
	}
	for i, d := range o.decided {
		p.decided[i] *= d
	}
}

// launches returns the expected number of launches, rounded to a tenth.
func (p *forecast) launches(looks []int) float64 {
	n := float64(looks[0])
	for i := 1; i < len(looks) && p.decided != nil; i++ {
		n += (1 - p.decided[i-1]) * float64(looks[i]-looks[i-1])
	}
	if p.unsimulated && len(looks) > 1 {
		n = max(n, float64(looks[0]+looks[1])/2)
	}
	return math.Round(n*10) / 10
}

// forecasts returns the forecast of each row of a run.
func (t *runTable) forecasts() func(*row) *forecast {
	alike, axes := map[any]int{}, t.axesOf("fabric")
	for _, r := range t.rows {
		if r.reason == "" {
			alike[r.option("fabric")]++
		}
	}
	return byAxes(t, sorted(slices.Concat(t.assertedBy, axes)), func(r *row) *forecast {
		return forecastOf(t.run.Workload, r.judged.list, t.run.Launches, alike[r.option("fabric")]-1, nil)
	})
}

// pool is the key by which cases pool noise: run and fabric.
func (c *Case) pool() [2]string { return [2]string{c.Run, option.Text(c.Options["fabric"])} }

// forecastOf returns the forecast of a case's assertions; others is the number of cases with which
// noise is pooled.
func forecastOf(
	k *workload.Kind, list []assertion.Assertion, looks []int, others int, noise []assertion.Noise,
) *forecast {
	out := &forecast{}
	for _, a := range list {
		if !a.MayAskLaunches() {
			continue
		}
		h, ok := passingPathOf(k, a, looks)
		if !ok {
			out.unsimulated = true
			continue
		}
		h.others = min(max(others, 0), mostPooled)
		h.setNoise(slices.Concat(a.Noise, noise), a.Subject.Metrics())
		out.join(&forecast{decided: h.decided(looks)})
	}
	return out
}

// passingPath is a path that satisfies an assertion over one case, with all parameters that affect the
// number of launches.
type passingPath struct {
	looks        string
	lower, upper float64 // logarithms of the bounds, relative to the true value
	confidence   float64
	known        bool // whether noise is known beforehand, with df degrees of freedom, 0 if exact
	noise, df    float64
	others       int     // cases to pool noise with otherwise
	moderated    bool    // whether the variance is moderated by other cases with known noise
	slower       float64 // sign of the logarithm by which slow launches differ; 0: the metric has no better direction
}

// passingPathOf returns the path of an assertion; not ok unless the assertion is a band over positive
// values of one case.
func passingPathOf(k *workload.Kind, a assertion.Assertion, looks []int) (h passingPath, ok bool) {
	if a.Subject == nil || a.Trend != nil || k == nil || len(looks) == 0 {
		return h, false
	}
	for _, leaf := range a.Subject.Leaves() {
		m, own := workload.FindMetric(k.Metrics, leaf.Metric)
		if !own || m.MayBeZero || leaf.Baseline || leaf.Case != "" || workload.OfCase(leaf.Metric) {
			return h, false
		}
	}
	h = passingPath{
		looks: fmt.Sprint(looks), lower: math.Inf(-1), upper: math.Inf(1), confidence: assertion.Confidence,
		noise: assumedNoise, slower: slowSide(k, a),
	}
	if a.Decide != nil && a.Decide.Confidence > 0 {
		h.confidence = a.Decide.Confidence
	}
	lower, upper := logOf(a.Bounds.Lower), logOf(a.Bounds.Upper)
	switch hasLower, hasUpper := !math.IsNaN(lower), !math.IsNaN(upper); {
	case a.Target != nil && *a.Target > 0:
		center := math.Log(*a.Target)
		h.lower, h.upper = lower-center, upper-center
	case hasLower && hasUpper:
		h.lower, h.upper = (lower-upper)/2, (upper-lower)/2
	case hasLower:
		h.lower = math.Log(1 - assumedMargin)
	case hasUpper:
		h.upper = -math.Log(1 - assumedMargin)
	}
	h.lower, h.upper = twoDigits(h.lower, math.Inf(-1)), twoDigits(h.upper, math.Inf(1))
	return h, true
}

// logOf returns the logarithm of a bound, NaN if the bound is not positive.
func logOf(bound *float64) float64 {
	if bound == nil || *bound <= 0 {
		return math.NaN()
	}
	return math.Log(*bound)
}

// twoDigits rounds to two digits, so that many cases share a simulation.
func twoDigits(v, none float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-1)
	return quantity.Round(math.Round(v/unit) * unit)
}

// slowSide returns the side on which slow launches are, as verdicts do.
func slowSide(k *workload.Kind, a assertion.Assertion) float64 {
	if a.Subject.Op == assertion.Metric {
		m, _ := workload.FindMetric(k.Metrics, a.Subject.Metric)
		switch m.Better {
		case workload.Higher:
			return -1
		case workload.Lower:
			return 1
		}
		return 0
	}
	u, _ := quantity.UnitOf(a.Unit)
	switch u.Dim {
	case quantity.RateDim, quantity.Frequency:
		return -1
	case quantity.TimeDim:
		return 1
	}
	return 0
}

// setNoise sets the known noise of a single metric.
func (h *passingPath) setNoise(list []assertion.Noise, metrics []string) {
	for _, n := range list {
		if len(metrics) == 1 && n.Metric == metrics[0] {
			h.moderated = h.others >= assertion.LeastModerating && n.Launch > 0
			h.known, h.noise, h.df, h.others = true, twoDigits(n.Launch, 0), math.Round(n.LaunchDF), 0
			return
		}
	}
}

// decidedCache caches the shares of simulated sessions, by passingPath.
var decidedCache sync.Map

// decided returns, by look, the share of simulated sessions that are decided by then. Seeds are
// fixed.
func (h passingPath) decided(looks []int) []float64 {
	if kept, ok := decidedCache.Load(h); ok {
		return kept.([]float64)
	}
	var rules []rule
	for _, n := range looks {
		rules = append(rules, h.rule(looks, n))
	}
	out := make([]float64, len(looks))
	for seed := range uint64(simulatedSessions) {
		r := rand.New(rand.NewPCG(seed, 1))
		n, mean, squares := 0, 0., 0.
		for k, now := range rules {
			for ; n < now.n; n++ {
				x := h.noise * r.NormFloat64()
				d := x - mean
				mean += d / float64(n+1)
				squares += d * (x - mean)
			}
			if now.decides(h, mean, squares) {
				for ; k < len(out); k++ {
					out[k] += 1. / simulatedSessions
				}
				break
			}
		}
	}
	decidedCache.Store(h, out)
	return out
}

// rule has the parameters of the decision at a look.
type rule struct {
	n      int
	factor float64 // of the standard deviation of the launches
	least  float64 // half of the interval from known noise
	narrow float64 // half of the interval with a moderated variance; 0: none
	hidden float64 // the possible cost of a slow mode
}

func (h passingPath) rule(looks []int, n int) rule {
	confidence := assertion.ConfidenceAt(h.confidence, looks, n)
	quantile := func(df float64) float64 {
		if df <= 0 {
			return distuv.UnitNormal.Quantile((1 + confidence) / 2)
		}
		return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1 + confidence) / 2)
	}
	out, root := rule{n: n}, math.Sqrt(float64(n))
	if n > 1 {
		out.factor = quantile(float64(n-1)) / root
	}
	pooled := float64(h.others * (n - 1))
	known := h.known || pooled >= assertion.LeastPooled
	if known && n > 1 {
		out.least = quantile(max(h.df, pooled)) * h.noise / root
		if h.moderated {
			out.narrow = assertion.ModeratedRoom * quantile(0) * h.noise / root
		}
	}
	if n < assertion.Enough(looks) {
		out.hidden = h.slower * assertion.Hidden(n, known)
	}
	return out
}

func (r rule) decides(h passingPath, mean, squares float64) bool {
	half := r.least
	if r.n > 1 {
		half = max(half, r.factor*math.Sqrt(squares/float64(r.n-1)))
	}
	if mean+half < h.lower || mean-half > h.upper {
		return true
	}
	if r.narrow > 0 {
		half = max(r.least, min(half, r.narrow)) // only passing may depend on it
	}
	slow := mean + r.hidden
	return mean-half >= h.lower && mean+half <= h.upper && slow >= h.lower && slow <= h.upper
}

// Expect sets the noise of cases from earlier sessions, by key, which reduces the expected
// launches.
func (p *Plan) Expect(noise map[string][]assertion.Noise) {
	p.noise = noise
	p.Cost = p.cost()
}
