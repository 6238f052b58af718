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
// values of one launch have in common. Launches count by their shares wᵢ of the values beyond the quantile: its
// variance is σ²·Σwᵢ² instead of σ²/n. Otherwise a quantile that lies in the values of the slowest launch would appear
// to be as certain as the mean of all launches. The normal approximation fails for the same reason, the more the
// farther the quantile is from the median: Student's quantile has (n-1)/(n·Σwᵢ²)^|2q-1| degrees of freedom, at least
// one. The exponent is by simulation (TestTailQuantilesAtTheirBound): without it, p99 misses the truth in up to 13 % of
// sessions of 5 launches at a confidence of 96 %, and an exponent of 1 doubles the interval of a median of 3.
//
// An expression of several metrics, such as latency.p99 / latency.p50, has a value in each launch, and is judged by
// those: of all values together, the numerator would contain how launches differ, and the pairs would be lost.

// mergedQuantile is a quantile of all values of a case, scaled by or added to constants.
type mergedQuantile struct {
	subject *assertion.Expr
	unit    string
	log     bool
	values  *results.Merged
	level   results.Quantile
	own     []float64 // per launch, in the unit
	shares  float64   // Σwᵢ²
}

// mergedClaim returns the check's subject as a quantile of all values; nil if it is another one, or if a launch lacks
// its values.
func (check boundCheck) mergedClaim(c *results.Case, ps []point) *mergedQuantile {
	names := check.subject.Metrics()
	if len(ps) < 2 || len(names) != 1 || len(ps[0].launch.Distributions) == 0 {
		return nil
	}
	d, _ := check.metrics.Metric(c, names[0])
	level, ok := d.Level()
	if !ok {
		return nil
	}
	launches := make([]*results.Launch, len(ps))
	for i, p := range ps {
		launches[i] = p.launch
	}
	all := distributionsOf(launches, d.Family())
	values := results.Merge(all)
	if values == nil {
		return nil
	}
	return &mergedQuantile{
		subject: check.subject, unit: check.unit, log: positive(check.metrics, check.subject), values: values,
		level: level, own: valuesOf(ps), shares: sharesBeyond(all, values, level),
	}
}

// distributionsOf returns the values of a family in each launch; nil if a launch lacks them.
func distributionsOf(launches []*results.Launch, family string) []*results.Distribution {
	all := make([]*results.Distribution, len(launches))
	for i, l := range launches {
		d, ok := l.Distributions[family]
		if !ok {
			return nil
		}
		all[i] = d
	}
	return all
}

// sharesBeyond estimates Σwᵢ² for the shares wᵢ of launches in the values beyond a quantile, on its farther side: the
// probability that two of these values are of one launch. It is at least 1/n for n launches, and 1/n if it cannot be
// estimated.
func sharesBeyond(all []*results.Distribution, values *results.Merged, level results.Quantile) float64 {
	at := values.Rank(results.NearestRank(values.Count(), level))
	pairs, total := 0., 0.
	for _, d := range all {
		below, above := d.Beside(at)
		n := float64(above)
		if 2*level < results.Maximum {
			n = float64(below)
		}
		pairs, total = pairs+n*(n-1), total+n
	}
	least := 1 / float64(len(all))
	if total < 2 {
		return least
	}
	return max(least, pairs/(total*(total-1)))
}

// at is the estimate with the interval of a confidence.
func (m *mergedQuantile) at(confidence float64) estimate {
	value := func(rank int64) float64 {
		v, err := m.subject.EvalWith(
			func(*assertion.Expr) (float64, error) { return m.values.Rank(rank), nil }, m.unit)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	center := value(results.NearestRank(m.values.Count(), m.level))
	low, high := limits(m.values.Count(), m.level, confidence)
	a, b, half := value(low), value(high), m.between(confidence)
	less := max(m.distance(center, min(a, b)), half)
	more := max(m.distance(max(a, b), center), half)
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

// between is half of Student's interval of the per-launch values, by the shares of launches. An unbounded value counts
// as the largest finite one, which is conservative for the lower limit.
func (m *mergedQuantile) between(confidence float64) float64 {
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
	_, sd := moments(own)
	farFromMedian := math.Abs(2*float64(m.level)/float64(results.Maximum) - 1)
	df := float64(len(own)-1) / math.Pow(float64(len(m.own))*m.shares, farFromMedian)
	return student(max(1, df), confidence) * sd * math.Sqrt(m.shares)
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
