package gate

import (
	"fmt"

	"weir/assertion"
	"weir/results"
	"weir/workload"
)

// gainOf is the metric of a subject that is a gain.
func (cl claim) gainOf() (metric string, ok bool) {
	m, _, better := gainIn(cl.subject)
	if m == nil || cl.own == nil {
		return "", false
	}
	d, known := cl.metrics.Metric(cl.own, m.Metric)
	return m.Metric, known && d.Better == better
}

// gainIn are the two metrics of an expression that says by how much the first is better than the second, of another
// case: what the language writes as gain(METRIC) is m/b - 1 of a metric of which more is better, and 1 - m/b of
// others. nil of any other expression.
func gainIn(e *assertion.Expr) (m, b *assertion.Expr, better workload.Direction) {
	if e == nil || e.Op != assertion.Sub || len(e.Args) != 2 {
		return nil, nil, ""
	}
	one, quotient := e.Args[0], e.Args[1]
	better = workload.Lower
	if quotient.Op == assertion.Const {
		one, quotient, better = quotient, one, workload.Higher
	}
	if one.Op != assertion.Const || one.Value != 1 || quotient.Op != assertion.Div || len(quotient.Args) != 2 {
		return nil, nil, ""
	}
	m, b = quotient.Args[0], quotient.Args[1]
	if m.Op != assertion.Metric || b.Op != assertion.Metric || m.Metric != b.Metric || b.Case == "" {
		return nil, nil, ""
	}
	return m, b, better
}

// gainText is a gain with its interval and what was wanted of it, in percent:
// "gain(latency.p50) -0.1% (96% CI -28% to +28%, n=8), wanted >= -10%".
func (cl claim) gainText(metric string, e estimate, where place) string {
	o := cl.observed(e, "")
	value, low, high := results.SignedPercent(e.center, o.CI, cl.bounds.Lower, cl.bounds.Upper)
	text := fmt.Sprintf("gain(%s) %s", metric, value)
	switch {
	case o.CI == nil:
		text += fmt.Sprintf(" (n=%d)", e.n)
	case results.Uninformative(o.CI):
		text += fmt.Sprintf(" (n=%d, too few for an interval)", e.n)
	default:
		text += fmt.Sprintf(" (%s CI %s to %s%s, n=%d)", results.PercentText(cl.stated), low, high,
			overLooks(o.Looks), e.n)
	}
	text += ", wanted " + bounds(cl.bounds, results.Percent)
	if where == crossing {
		text += ": the interval crosses " + results.Percent.WithUnit(
			results.Percent.Exact(nearest(cl.bounds, e.center)),
		)
	}
	return text
}

func overLooks(looks int) string {
	if looks < 2 {
		return ""
	}
	return fmt.Sprintf(" over %d looks", looks)
}
