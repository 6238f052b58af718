package gate

import (
	"math"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// A quantile over launches is that of all their values together. The mean of the launches' own quantiles is
// too low where these are of few values each: that of p99 of 100 lognormal values of sigma 1 by 16 %.
//
// Two things make it uncertain, and its interval is as wide as the wider of both makes it on each side:
//
//   - That so few values were drawn. The l-th of N values is a lower limit of the quantile q with the error
//     P(Bin(N, q) < l), and the u-th an upper one with P(Bin(N, q) >= u), whatever the distribution (David and
//     Nagaraja, Order Statistics, 2003, 7.1). Where no u is, there is no upper limit.
//   - That launches differ: Student's interval of the launches' own values, around the quantile of all. It contains
//     what the values of one launch have in common, and what they drew.

// merging is a subject over one case some of whose metrics are quantiles.
type merging struct {
	subject *assertion.Expr
	unit    string
	log     bool
	leaves  map[string]mergedLeaf
	own     []float64 // the subject in each launch, in the unit
}

// mergedLeaf is a metric of the subject: a quantile of the values of all launches, or a mean over launches.
type mergedLeaf struct {
	mean   float64
	values *results.Merged // nil of a mean
	level  results.Quantile
}

// mergedClaim is the claim's subject over the launches of one case; nil where none of its metrics is a quantile of
// values that all launches have.
func (cl claim) mergedClaim(c *results.Case, ps []point) *merging {
	if len(ps) < 2 || len(ps[0].launch.Distributions) == 0 {
		return nil
	}
	m := &merging{
		subject: cl.subject, unit: cl.unit, log: positive(cl.metrics, cl.subject), leaves: map[string]mergedLeaf{},
		own: valuesOf(ps),
	}
	launches, found := make([]*results.Launch, len(ps)), false
	for i, p := range ps {
		launches[i] = p.launch
	}
	for _, name := range cl.subject.Metrics() {
		d, _ := cl.metrics.Metric(c, name)
		if m.leaves[name] = leafOf(d, name, launches, m.log); m.leaves[name].values != nil {
			found = true
		}
	}
	if !found {
		return nil
	}
	return m
}

// leafOf is a metric over launches, all of which have it.
func leafOf(d workload.Metric, name string, launches []*results.Launch, log bool) mergedLeaf {
	if level, ok := d.Level(); ok {
		if values := mergedOf(launches, d.Family()); values != nil {
			return mergedLeaf{values: values, level: level}
		}
	}
	values := make([]float64, len(launches))
	for i, l := range launches {
		values[i] = l.Metrics.At(name)
	}
	if log && slices.Min(values) > 0 {
		return mergedLeaf{mean: logarithmic(values, results.Confidence).center}
	}
	return mergedLeaf{mean: arithmetic(values, results.Confidence).center}
}

// mergedOf are the values of a family in all launches, nil where one does not have them.
func mergedOf(launches []*results.Launch, family string) *results.Merged {
	all := make([]*results.Distribution, len(launches))
	for i, l := range launches {
		d, ok := l.Distributions[family]
		if !ok {
			return nil
		}
		all[i] = d
	}
	return results.Merge(all)
}

// at is the estimate with its interval of a confidence.
func (m *merging) at(confidence float64) estimate {
	value := func(changed string, rank int64) float64 {
		v, err := m.subject.EvalWith(func(leaf *assertion.Expr) (float64, error) {
			l := m.leaves[leaf.Metric]
			switch {
			case l.values == nil:
				return l.mean, nil
			case leaf.Metric == changed:
				return l.values.Rank(rank), nil
			}
			return l.values.Rank(results.NearestRank(l.values.Count(), l.level)), nil
		}, m.unit)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	center := value("", 0)
	less, more := 0., 0. // squares of how far the limits are from the centre
	for name, l := range m.leaves {
		if l.values == nil {
			continue
		}
		low, high := limits(l.values.Count(), l.level, confidence)
		a, b := value(name, low), value(name, high)
		less, more = less+square(m.distance(center, min(a, b))), more+square(m.distance(max(a, b), center))
	}
	half := m.between(center, confidence)
	less, more = max(math.Sqrt(less), half), max(math.Sqrt(more), half)
	e := estimate{quantity.Round(center), quantity.Round(center - less), quantity.Round(center + more), len(m.own)}
	if m.log {
		e.lo, e.hi = unlog(math.Log(center)-less), unlog(math.Log(center)+more)
	}
	if quantity.Endless(e.center) || notFinite(more) || quantity.Endless(e.hi) {
		e.hi = results.Unbounded
	}
	if m.subject.Op == assertion.Metric && !m.log && slices.Min(m.own) >= 0 {
		e.lo = max(e.lo, 0)
	}
	if notFinite(less) || !(e.lo > 0) && m.log {
		e.lo = 0
	}
	return e
}

func square(v float64) float64 { return v * v }

// distance is how much larger one value is, on the scale of the interval; infinite from a value without an end.
func (m *merging) distance(large, small float64) float64 {
	switch {
	case math.IsNaN(large), math.IsNaN(small), quantity.Endless(large) && !quantity.Endless(small):
		return math.Inf(1)
	case large <= small:
		return 0
	case m.log && small <= 0:
		return math.Inf(1)
	case m.log:
		return math.Log(large / small)
	}
	return large - small
}

// between is half of Student's interval of the launches' own values. One without an end counts as the largest
// that has one: it is further away, and of the lower limit this is the safe side.
func (m *merging) between(center, confidence float64) float64 {
	longest := 0.
	for _, v := range m.own {
		if !quantity.Endless(v) {
			longest = max(longest, v)
		}
	}
	own := make([]float64, 0, len(m.own))
	for _, v := range m.own {
		switch {
		case quantity.Endless(v) && longest == 0:
		case quantity.Endless(v):
			own = append(own, longest)
		default:
			own = append(own, v)
		}
	}
	if len(own) < 2 {
		return 0
	}
	if m.log && slices.Min(own) > 0 {
		own = logs(own)
	}
	e := linear(own, confidence)
	return (e.hi - e.lo) / 2
}

// merged makes an estimate that of the values of all launches together, where these have them.
func merged(
	d *workload.Definitions,
	c *results.Case,
	m workload.Metric,
	launches []*results.Launch,
	out *results.MetricEstimate,
) {
	cl := claim{metrics: d, subject: &assertion.Expr{Op: assertion.Metric, Metric: m.Name, Unit: m.Unit}, unit: m.Unit}
	ps, err := pointsOf(d, c, launches, cl.subject, m.Unit)
	if err != nil {
		return
	}
	if of := cl.mergedClaim(c, ps); of != nil {
		e := of.at(results.Confidence)
		out.Value, out.CI = e.center, e.ci()
	}
}

// limits are the ranks of the order statistics that bound a quantile of n values from below and from above, each
// with half of the error that the confidence leaves: rank 0 and n+1 are no limits.
func limits(n int64, q results.Quantile, confidence float64) (low, high int64) {
	key := limitKey{n, q, confidence}
	if r, ok := knownLimits.Load(key); ok {
		ranks := r.([2]int64)
		return ranks[0], ranks[1]
	}
	wrong, share := (1-confidence)/2, float64(q)/float64(results.Maximum)
	values := distuv.Binomial{N: float64(n), P: share}
	upTo := func(k int64) float64 { // P(Bin <= k)
		switch {
		case k < 0:
			return 0
		case k >= n:
			return 1
		}
		return values.CDF(float64(k))
	}
	// the largest l with P(Bin <= l-1) <= wrong, and the least u with P(Bin <= u-1) >= 1-wrong
	low = int64(sort.Search(int(n)+1, func(k int) bool { return upTo(int64(k)) > wrong }))
	high = 1 + int64(sort.Search(int(n)+1, func(k int) bool { return upTo(int64(k)) >= 1-wrong }))
	knownLimits.Store(key, [2]int64{low, high})
	return low, high
}

type limitKey struct {
	n          int64
	q          results.Quantile
	confidence float64
}

var knownLimits sync.Map // limitKey → [2]int64
