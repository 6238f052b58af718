package gate

import (
	"math"
	"slices"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// variances are what a metric of a case varies by, where more than its launches is known.
// between is what is known of how sessions differ.
func variances(c *results.Case, metric string, m results.MetricEstimate, between []assertion.Noise) []results.Variance {
	var out []results.Variance
	launches := c.Succeeded()
	if metric == workload.Bandwidth {
		squares, df := 0., 0.
		for _, course := range coursesOf(launches) {
			_, sd := moments(course)
			squares, df = squares+sd*sd*float64(len(course)-1), df+float64(len(course)-1)
		}
		if df > 0 {
			out = append(out, results.Variance{Of: "pieces", CV: quantity.Round(math.Sqrt(squares / df)), DF: df})
		}
	}
	known := slices.IndexFunc(between, func(n assertion.Noise) bool { return n.Metric == metric })
	if len(out) == 0 && known < 0 {
		return nil
	}
	var values []float64
	for _, l := range launches {
		if v, ok := l.Metrics.Get(metric); ok && v > 0 {
			values = append(values, math.Log(v))
		}
	}
	if len(values) > 1 && len(values) == m.N {
		_, sd := moments(values)
		out = append(out, results.Variance{Of: "launches", CV: quantity.Round(sd), DF: float64(len(values) - 1)})
	}
	if known >= 0 {
		out = append(out, results.Variance{
			Of: "sessions", CV: quantity.Round(between[known].Session), DF: between[known].SessionDF,
		})
	}
	return out
}

// sessionsOf is what history, or the references of assertions, say of how sessions differ, by case.
func (eval *evaluator) sessionsOf() map[string][]assertion.Noise {
	out := map[string][]assertion.Noise{}
	add := func(key string, list []assertion.Noise) {
		for _, n := range list {
			if n.KnowsSessions && (n.Case == "" || n.Case == key) {
				out[key] = append(out[key], n)
			}
		}
	}
	for _, c := range eval.doc.Cases {
		for _, a := range c.Assertions {
			add(c.Key, a.Noise)
		}
	}
	for _, n := range eval.doc.Noise {
		if n.Environment == "" || n.Environment == eval.doc.Environment.Fingerprint {
			add(n.Case, n.Metrics)
		}
	}
	return out
}
