package gate

import (
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// SoFar estimates the subject of an assertion over one case from the present launches, on the scale and
// with the confidence of its verdict. It gives no verdict: an unplanned analysis would spend error budget.
// ok is false for assertions over several cases or on a transport, and before the first launch.
func SoFar(d *workload.Definitions, c *results.Case, a *assertion.Assertion) (o results.Observed, ok bool) {
	d = d.In(c)
	if a.Subject == nil || a.Trend != nil {
		return o, false
	}
	confidence := results.Confidence
	if a.Decide != nil && a.Decide.Confidence > 0 {
		confidence = a.Decide.Confidence
		o.Confidence = confidence
	}
	if isAvailability(a.Subject) {
		if len(c.Launches) == 0 {
			return o, false
		}
		e := clopperPearson(len(c.Succeeded()), len(c.Launches), confidence)
		o.Value, o.Unit, o.CI, o.N = e.center, a.Unit, e.ci(), e.n
		return o, true
	}
	all, err := points(d, c, a.Subject, a.Unit)
	if err != nil || len(all) == 0 {
		return o, false
	}
	var values []float64
	for _, p := range all {
		values = append(values, p.value)
	}
	e := arithmetic(values, confidence)
	if positive(d, a.Subject) && slices.Min(values) > 0 {
		e = logarithmic(values, confidence)
	}
	o.Value, o.Unit, o.CI, o.N = e.center, a.Unit, e.ci(), e.n
	return o, true
}

// Estimates returns the estimate of each metric over the launches of a case so far.
func Estimates(d *workload.Definitions, c *results.Case) results.MetricValues {
	values := map[string]float64{}
	own := *c.Undisturbed()
	own.Metrics = results.Named[results.MetricEstimate]{} // estimates writes into existing entries
	for name, m := range estimates(d, &own).All() {
		values[name] = m.Value
	}
	return results.ValuesOf(values)
}
