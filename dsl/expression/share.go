package expression

import (
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// checkShareMetric checks a relation on availability, a share of launches that no single launch has: it must
// be compared by itself, in this session, with numbers.
func (r *relation) checkShareMetric() *Error {
	var err *Error
	for _, side := range r.sides() {
		side.each(func(t *term, _ bool) {
			if err != nil || t.op != assertion.Metric || !workload.OfCase(t.metric) {
				return
			}
			const hint = "compare it by itself with a number: availability >= 0.9"
			switch {
			case t.baseline:
				err = t.errorf(hint, "a baseline has only launches that succeeded")
			case r.axis != "":
				err = t.errorf(hint, "%s is a share of launches and has no trend", t.metric)
			case side != r.left || side != t || r.right.measured() || r.upper != nil && r.upper.measured():
				err = t.errorf(hint,
					"%s is a share of launches, not a value of each launch: it cannot be used in arithmetic",
					t.metric)
			}
		})
	}
	return err
}

// checkShareBounds refuses bounds that no number of launches could confirm or refute.
func (r *relation) checkShareBounds(subject *assertion.Expr, b assertion.Bounds) *Error {
	if subject.Op != assertion.Metric || !workload.OfCase(subject.Metric) {
		return nil
	}
	from, to := r.right.from, r.right.to
	switch {
	case b.Lower != nil && *b.Lower >= 1:
		return errorf(from, to, "use a lower bound, as 0.99",
			"no number of successful launches can prove a share of %s or more",
			number(*b.Lower))
	case b.Upper != nil && *b.Upper <= 0:
		return errorf(from, to, "use a higher bound, as 0.01",
			"no number of failed launches can prove that all would fail")
	case (b.Lower == nil || *b.Lower <= 0) && (b.Upper == nil || *b.Upper >= 1):
		return errorf(from, to, "check the number", "every share is within these bounds")
	}
	return nil
}
