package gate

import (
	"math"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// A quantile over launches is the quantile of all their values together. The mean of per-launch quantiles
// is biased low if these have few values: by 16 % for p99 of 100 lognormal values with sigma 1.
//
// The interval takes the wider of two on each side:
// - Sampling: the l-th of N values is a lower limit of the quantile q with error P(Bin(N, q) < l), the
// u-th an upper limit with P(Bin(N, q) >= u), for any distribution (David and Nagaraja, Order Statistics,
// 2003, 7.1). There may be no upper limit.
// - Launches: Student's interval of the per-launch values around the quantile of all. It includes what
// values of one launch have in common.

// mergedQuantile is a subject over one case with quantiles among its metrics.
type mergedQuantile struct {
	subject *assertion.Expr
	unit    string
	log     bool
	leaves  map[string]mergedLeaf
	own     []float64 // per launch, in the unit
}

// mergedLeaf is a metric of the subject: a quantile of all values, or a mean over launches.
type mergedLeaf struct {
	mean   float64
	values *results.Merged // nil of a mean
	level  results.Quantile
}

// mergedClaim returns the check's subject with quantiles of all values; nil if no metric is a quantile
// with values in every launch.
func (check boundCheck) mergedClaim(c *results.Case, ps []point) *mergedQuantile {
	if len(ps) < 2 || len(ps[0].launch.Distributions) == 0 {
		return nil
	}
	m := &mergedQuantile{
		subject: check.subject, unit: check.unit, log: positive(check.metrics, check.subject),
		leaves: map[string]mergedLeaf{},
		own:    valuesOf(ps),
	}
	launches, found := make([]*results.Launch, len(ps)), false
	for i, p := range ps {
		launches[i] = p.launch
	}
	for _, name := range check.subject.Metrics() {
		d, _ := check.metrics.Metric(c, name)
		if m.leaves[name] = leafOf(d, name, launches, m.log); m.leaves[name].values != nil {
			found = true
		}
	}
	if !found {
		return nil
	}
	return m
}

// leafOf returns a metric over launches that all have it.
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

// mergedOf merges the values of a family over all launches; nil if a launch lacks them.
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

// at is the estimate with the interval of a confidence.
func (m *mergedQuantile) at(confidence float64) estimate {
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
	less, more := 0., 0. // squared distances of the limits from the centre
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

// distance is how much larger one value is, on the scale of the interval; infinite for an unbounded value.
func (m *mergedQuantile) distance(large, small float64) float64 {
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

// between is half of Student's interval of the per-launch values. An unbounded value counts as the largest
// finite one, which is conservative for the lower limit.
func (m *mergedQuantile) between(center, confidence float64) float64 {
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

// merged replaces an estimate by that of all values together, if there are any.
func merged(
	d *workload.Definitions,
	c *results.Case,
	m workload.Metric,
	launches []*results.Launch,
	out *results.MetricEstimate,
) {
	subject := &assertion.Expr{Op: assertion.Metric, Metric: m.Name, Unit: m.Unit}
	check := boundCheck{metrics: d, subject: subject, unit: m.Unit}
	ps, err := pointsOf(d, c, launches, check.subject, m.Unit)
	if err != nil {
		return
	}
	if of := check.mergedClaim(c, ps); of != nil {
		e := of.at(results.Confidence)
		out.Value, out.CI = e.center, e.ci()
	}
}

// limits returns the ranks of the order statistics that bound a quantile of n values, each with half of
// the error; 0 and n+1 mean no limit.
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
	// The largest l with P(Bin <= l-1) <= wrong, and the smallest u with P(Bin <= u-1) >= 1-wrong.
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
