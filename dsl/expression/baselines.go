package expression

import (
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// checkBaselines refuses baseline.METRIC of a metric that the relation does not have of this session: a baseline is
// what the same metric was.
func (r *relation) checkBaselines() *Error {
	var here, stored []*term
	for _, side := range r.sides() {
		side.each(func(t *term, _ bool) {
			switch {
			case t.op != assertion.Metric:
			case t.baseline:
				stored = append(stored, t)
			default:
				here = append(here, t)
			}
		})
	}
	for _, t := range stored {
		if slices.ContainsFunc(here, func(o *term) bool { return o.metric == t.metric }) {
			continue
		}
		return t.errorf(sameMetric(here, t.dim), "%s is held against another metric: a baseline is what the same metric was",
			"baseline."+t.metric)
	}
	return nil
}

// sameMetric suggests the baseline of the first metric of this session, one of the dimension if there is any.
func sameMetric(here []*term, dim quantity.Dimension) string {
	if len(here) == 0 {
		return ""
	}
	i := max(0, slices.IndexFunc(here, func(t *term) bool { return t.dim == dim }))
	return "write baseline." + here[i].metric
}
