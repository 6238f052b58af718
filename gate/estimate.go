package gate

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// estimate is a centre with its confidence interval. With fewer than two values lo and hi equal the
// centre, except for a share.
type estimate struct {
	center, lo, hi float64
	n              int
}

// ci is the interval, or nil if there is none.
func (e estimate) ci() *[2]float64 {
	if e.n < 2 && e.lo == e.hi {
		return nil
	}
	return &[2]float64{e.lo, e.hi}
}

// linear estimates the mean with a t-interval. Values are summed in ascending order, so that the result
// does not depend on the order of launches.
func linear(values []float64, confidence float64) estimate {
	mean, sd := moments(values)
	n := len(values)
	if n < 2 || sd == 0 {
		return estimate{mean, mean, mean, n}
	}
	half := student(float64(n-1), confidence) * sd / math.Sqrt(float64(n))
	return estimate{mean, mean - half, mean + half, n}
}

// arithmetic estimates the mean of values that may be zero or negative.
func arithmetic(values []float64, confidence float64) estimate {
	e := linear(values, confidence)
	return estimate{quantity.Round(e.center), quantity.Round(e.lo), quantity.Round(e.hi), e.n}
}

// logarithmic estimates the geometric mean of positive values: errors of rates and times are relative, and
// a tolerance in percent is a ratio.
func logarithmic(values []float64, confidence float64) estimate {
	if slices.Min(values) == slices.Max(values) {
		v := values[0] // not exp(log(v)), which may lie just outside a bound
		return estimate{v, v, v, len(values)}
	}
	if slices.Max(values) >= results.Unbounded {
		return arithmetic(values, confidence) // a geometric mean would be misleading
	}
	var few [16]float64 // avoids an allocation for usual numbers of launches
	e := linear(appendLogs(few[:0], values), confidence)
	return estimate{unlog(e.center), unlog(e.lo), unlog(e.hi), e.n}
}

// unlog rounds exp to 12 digits, because the last bits of exp and log differ between machines, and clamps
// it to finite values.
func unlog(v float64) float64 {
	return min(quantity.Round(math.Exp(v)), math.MaxFloat64)
}

func logs(values []float64) []float64 { return appendLogs(make([]float64, 0, len(values)), values) }

func appendLogs(out, values []float64) []float64 {
	for _, v := range values {
		out = append(out, math.Log(v))
	}
	return out
}

// student is the quantile of Student's distribution for a two-sided interval.
func student(df, confidence float64) float64 {
	key := quantileKey{df, confidence}
	if q, ok := quantiles.Load(key); ok {
		return q.(float64)
	}
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile((1 + confidence) / 2)
	if df == math.Trunc(df) && kept.Add(1) <= mostKept { // others hardly ever recur
		quantiles.Store(key, q)
	}
	return q
}

// quantiles caches quantiles of Student's distribution: computing one takes about 10 µs, and ten thousand
// cases use the same few.
var (
	quantiles sync.Map // quantileKey → float64
	kept      atomic.Int64
)

const mostKept = 4096

type quantileKey struct{ df, confidence float64 }

// moments returns the mean and the sample standard deviation.
func moments(values []float64) (mean, sd float64) {
	s := sorted(values)
	if len(s) == 0 {
		return 0, 0
	}
	if s[0] == s[len(s)-1] {
		return s[0], 0
	}
	n := float64(len(s))
	for _, v := range s {
		mean += v / n // not sum/n, which may overflow
	}
	sum := 0.0
	for _, v := range s {
		sum += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sum / (n - 1))
}

// sorted returns values in ascending order; the result may share memory with the argument.
func sorted(values []float64) []float64 {
	if slices.IsSorted(values) {
		return values
	}
	s := slices.Clone(values)
	slices.Sort(s)
	return s
}

// median accepts values in any order.
func median(values []float64) float64 {
	s := sorted(values)
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return s[n/2-1]/2 + s[n/2]/2
}

// estimates returns the estimate of every metric over the launches that succeeded, on the scale used for
// verdicts. Metrics with a value that is not finite have none. Existing estimates of the same metrics are
// overwritten.
func estimates(d *workload.Definitions, c *results.Case) results.Named[results.MetricEstimate] {
	d = d.In(c)
	launches, metrics := c.Succeeded(), d.Of(c.Workload, c.Run).Definitions
	names := finiteMetrics(launches)
	out := c.Metrics.Values()
	if !slices.Equal(names, c.Metrics.Names()) {
		out = make([]results.MetricEstimate, len(names))
	}
	intervals := make([][2]float64, len(names)) // one allocation for all
	values := make([]float64, 0, len(launches))
	for i, name := range names {
		values = values[:0]
		for _, l := range launches {
			if own := l.Metrics.Names(); i < len(own) && own[i] == name { // the usual case
				values = append(values, l.Metrics.Values()[i])
			} else if v, ok := l.Metrics.Get(name); ok {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		m, known := workload.FindMetric(metrics, name)
		if !known {
			m = workload.Metric{Better: workload.Neither}
		}
		out[i] = estimateMetric(m, d.MayBeZero("", name), neverNegative(d, "", name, m.Unit), values, &intervals[i])
		if _, quantile := m.Level(); quantile && len(launches) > 1 {
			merged(d, c, m, launches, &out[i])
		}
		out[i].Samples = fewestSamples(c, m, launches)
	}
	return results.NamedList(names, out)
}

// showDeciding replaces the intervals of asserted metrics by those of their verdicts, so that tables and
// messages agree.
func showDeciding(doc *results.Document) {
	for _, c := range doc.Cases {
		shown := map[string]bool{}
		for _, a := range c.Assertions {
			o := a.Observed
			if o == nil || o.CI == nil || a.Subject == nil || a.Subject.Op != assertion.Metric || a.Subject.Baseline ||
				a.Subject.Case != "" && a.Subject.Case != c.Key || shown[a.Subject.Metric] {
				continue
			}
			at := slices.Index(c.Metrics.Names(), a.Subject.Metric)
			if at < 0 || c.Metrics.Values()[at].N != o.N {
				continue
			}
			m := &c.Metrics.Values()[at]
			from, _ := quantity.UnitOf(o.Unit)
			to, known := quantity.UnitOf(m.Unit)
			if !known || to.Factor == 0 {
				continue
			}
			shown[a.Subject.Metric] = true
			factor := from.Factor / to.Factor
			if o.Looks == 0 && o.Confidence == 0 && o.Noise == "" {
				continue // same interval as the estimate
			}
			m.CI, m.Looks = &[2]float64{quantity.Round(o.CI[0] * factor), quantity.Round(o.CI[1] * factor)}, o.Looks
			if m.Confidence = results.Confidence; o.Confidence != 0 {
				m.Confidence = o.Confidence
			}
		}
	}
}

// fewestSamples is the number of values behind a quantile in the launch with the fewest; 0: not a
// quantile, or not recorded.
func fewestSamples(c *results.Case, m workload.Metric, launches []*results.Launch) int64 {
	if m.CountedBy == "" {
		return 0
	}
	fewest, stated := int64(0), int64(-1) // stated: by the options, equal in all launches
	for _, l := range launches {
		n := stated
		if _, counted := l.Metrics.Get(m.CountedBy); counted || stated < 0 {
			n = kindOf(c).CountOf(m, c.ResolvedOptions(), l.Metrics)
			if !counted {
				stated = n
			}
		}
		if fewest == 0 || n > 0 && n < fewest {
			fewest = n
		}
	}
	return fewest
}

// finiteMetrics lists, sorted, the metrics that some launch has and that are finite wherever present.
func finiteMetrics(launches []*results.Launch) []string {
	var names []string
	for i, l := range launches {
		if own := l.Metrics.Names(); i == 0 {
			names = own
		} else if !slices.Equal(names, own) {
			names = slices.Compact(slices.Sorted(slices.Values(slices.Concat(names, own))))
		}
	}
	for _, l := range launches {
		for name, v := range l.Metrics.All() {
			if notFinite(v) {
				names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
			}
		}
	}
	return names
}

// estimateMetric estimates a metric from its sorted values; it stores the interval in ci.
func estimateMetric(
	m workload.Metric, mayBeZero, amount bool, values []float64, ci *[2]float64,
) results.MetricEstimate {
	scale := arithmetic
	if !mayBeZero && values[0] > 0 {
		scale = logarithmic
	}
	e := scale(values, results.Confidence)
	e = notNegative(e, values, amount)
	mean, sd := moments(values)
	cv := 0.0
	if mean != 0 {
		cv = sd / math.Abs(mean)
	}
	if e.n < 2 {
		ci = nil
	} else {
		*ci = [2]float64{e.lo, e.hi}
	}
	return results.MetricEstimate{
		Unit: m.Unit, N: e.n, Value: e.center, Median: median(values), Mean: mean, CV: cv,
		CI: ci, Confidence: results.Confidence, Better: string(m.Better),
	}
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
