package planner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/assertion"
	"weir/quantity"
	"weir/workload"
)

// What nobody knows before anything is measured is taken to be as in the operating characteristics of verdicts
// (weir docs statistics): launches that vary by 3 %, and a true value 10 % from a bound on one side.
const (
	usualNoise  = 0.03
	usualMargin = 0.1
	mostPooled  = 64
	// simulatedSessions leave an error of about 0.05 launches.
	simulatedSessions = 2000
)

// prospect is when assertions of a case, or of several, will be decided if what they promise is so.
type prospect struct {
	decided  []float64 // by look: the probability that all that are simulated are; nil: there are none
	middling bool      // others will be at the first look or the second
}

// join adds what else must be decided, independently.
func (p *prospect) join(o *prospect) {
	p.middling = p.middling || o.middling
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

// launches are the expected ones, to a tenth.
func (p *prospect) launches(looks []int) float64 {
	n := float64(looks[0])
	for i := 1; i < len(looks) && p.decided != nil; i++ {
		n += (1 - p.decided[i-1]) * float64(looks[i]-looks[i-1])
	}
	if p.middling && len(looks) > 1 {
		n = max(n, float64(looks[0]+looks[1])/2)
	}
	return math.Round(n*10) / 10
}

// prospects are those of the cases of a sheet.
func (s *sheet) prospects() facet[*prospect] {
	if s.prospect.classes != nil || s.assertions.classes == nil {
		return s.prospect
	}
	alike := map[string]int{}
	fabrics := s.axesOf([]string{"fabric"})
	own := work(s.by(fabrics), func(i int) string { return workload.Text(s.options(i)["fabric"]) })
	for i := range s.live {
		if s.reason(i) == "" {
			alike[own.at(i)]++
		}
	}
	axes := slices.Concat(s.assertedBy, fabrics)
	slices.Sort(axes)
	s.prospect = work(s.by(slices.Compact(axes)), func(i int) *prospect {
		return prospectOf(s.run.Workload, s.assertions.at(i).list, s.run.Launches, alike[own.at(i)]-1, nil)
	})
	return s.prospect
}

// pool is what the cases have in common over which noise is pooled: run and fabric.
func (c *Case) pool() [2]string { return [2]string{c.Run, workload.Text(c.Options["fabric"])} }

// prospectOf is that of the assertions of a case, beside so many others whose noise can be pooled.
func prospectOf(
	k *workload.Kind, list []assertion.Assertion, looks []int, others int, noise []assertion.Noise,
) *prospect {
	out := &prospect{}
	for _, a := range list {
		if !asks(a) {
			continue
		}
		h, ok := healthyOf(k, a, looks)
		if !ok {
			out.middling = true
			continue
		}
		h.others = min(max(others, 0), mostPooled)
		h.know(slices.Concat(a.Noise, noise), a.Subject.Metrics())
		out.join(&prospect{decided: h.decided(looks)})
	}
	return out
}

// healthy is a path that keeps what an assertion over one case promises of it, with all that decides how many
// launches it takes to show it.
type healthy struct {
	looks        string
	lower, upper float64 // logarithms of the bounds, relative to the true value
	confidence   float64
	known        bool // beforehand: noise, with df degrees of freedom, 0 where it is exact
	noise, df    float64
	others       int     // cases over which noise is pooled otherwise
	moderated    bool    // other cases, whose noise is known too, moderate its variance
	slower       float64 // sign of the logarithm by which slow launches differ; 0: the metric has no better side
}

// healthyOf is the path of an assertion; not ok of one that is no band over values of one case which are above 0.
func healthyOf(k *workload.Kind, a assertion.Assertion, looks []int) (h healthy, ok bool) {
	if a.Subject == nil || a.Trend != nil || k == nil || len(looks) == 0 {
		return h, false
	}
	for _, leaf := range a.Subject.Leaves() {
		m, own := workload.FindMetric(k.Metrics, leaf.Metric)
		if !own || m.MayBeZero || leaf.Baseline || leaf.Case != "" || workload.OfCase(leaf.Metric) {
			return h, false
		}
	}
	h = healthy{
		looks: fmt.Sprint(looks), lower: math.Inf(-1), upper: math.Inf(1), confidence: assertion.Confidence,
		noise: usualNoise, slower: slower(k, a),
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
		h.lower = math.Log(1 - usualMargin)
	case hasUpper:
		h.upper = -math.Log(1 - usualMargin)
	}
	h.lower, h.upper = coarse(h.lower, math.Inf(-1)), coarse(h.upper, math.Inf(1))
	return h, true
}

// logOf is the logarithm of a bound, not a number where there is none above 0.
func logOf(bound *float64) float64 {
	if bound == nil || *bound <= 0 {
		return math.NaN()
	}
	return math.Log(*bound)
}

// coarse keeps two digits, so that many cases share a simulation.
func coarse(v, none float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-1)
	return quantity.Round(math.Round(v/unit) * unit)
}

// slower is the side on which slow launches are, as verdicts take it.
func slower(k *workload.Kind, a assertion.Assertion) float64 {
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

// know takes what is known of the noise of a single metric.
func (h *healthy) know(list []assertion.Noise, metrics []string) {
	for _, n := range list {
		if len(metrics) == 1 && n.Metric == metrics[0] {
			h.moderated = h.others >= assertion.LeastModerating && n.Launch > 0
			h.known, h.noise, h.df, h.others = true, coarse(n.Launch, 0), math.Round(n.LaunchDF), 0
			return
		}
	}
}

// decidedBy are the shares of simulated sessions, by healthy.
var decidedBy sync.Map

// decided is, by look, the share of sessions of the path that are decided by then. Their seeds are fixed.
func (h healthy) decided(looks []int) []float64 {
	if kept, ok := decidedBy.Load(h); ok {
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
	decidedBy.Store(h, out)
	return out
}

// rule is what a look decides by.
type rule struct {
	n      int
	factor float64 // of the standard deviation of the launches
	least  float64 // half of the interval that known noise makes
	narrow float64 // half of the interval of a moderated variance; 0: there is none
	hidden float64 // what a slow mode may cost
}

func (h healthy) rule(looks []int, n int) rule {
	confidence := assertion.AtLook(h.confidence, looks, n)
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

func (r rule) decides(h healthy, mean, squares float64) bool {
	half := r.least
	if r.n > 1 {
		half = max(half, r.factor*math.Sqrt(squares/float64(r.n-1)))
	}
	if mean+half < h.lower || mean-half > h.upper {
		return true
	}
	if r.narrow > 0 {
		half = max(r.least, min(half, r.narrow)) // only passing may rest on it
	}
	slow := mean + r.hidden
	return mean-half >= h.lower && mean+half <= h.upper && slow >= h.lower && slow <= h.upper
}

// Expect tells what earlier sessions say of the noise of cases, by key: with it, fewer launches may be expected.
func (p *Plan) Expect(noise map[string][]assertion.Noise) {
	p.noise = noise
	p.Cost = p.cost()
}
