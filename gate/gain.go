package gate

import (
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// gainOf is the metric of a subject that is a gain.
func (check boundCheck) gainOf() (metric string, ok bool) {
	m, _, better := gainIn(check.subject)
	if m == nil || check.own == nil {
		return "", false
	}
	d, known := check.metrics.Metric(check.own, m.Metric)
	return m.Metric, known && d.Better == better
}

// gainIn recognises the expansion of gain(METRIC): m/b - 1 for a metric where more is better, 1 - m/b for
// others, with b the metric of another case. It returns nil for other expressions.
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
