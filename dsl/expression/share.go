package expression

import (
	"weir/assertion"
	"weir/workload"
)

// ofCases holds a relation to what can be said of a metric that no single launch has:
// it alone, of launches of this session, against numbers.
func (r *relation) ofCases() *Error {
	var err *Error
	for _, side := range r.sides() {
		side.each(func(t *term, _ bool) {
			if err != nil || t.op != assertion.Metric || !workload.OfCase(t.metric) {
				return
			}
			const hint = "write it by itself, against a number: availability >= 0.9"
			switch {
			case t.baseline:
				err = t.errorf(hint, "a baseline holds launches that succeeded, and none of the others")
			case r.axis != "":
				err = t.errorf(hint, "%s is a share of launches and has no trend", t.metric)
			case side != r.left || side != t || r.right.measured() || r.upper != nil && r.upper.measured():
				err = t.errorf(hint,
					"%s is a share of launches, which no launch has a value of: nothing can be computed with it",
					t.metric)
			}
		})
	}
	return err
}

// shareable refuses bounds of a share that no number of launches could show, or refute.
func (r *relation) shareable(subject *assertion.Expr, b assertion.Bounds) *Error {
	if subject.Op != assertion.Metric || !workload.OfCase(subject.Metric) {
		return nil
	}
	from, to := r.right.from, r.right.to
	switch {
	case b.Lower != nil && *b.Lower >= 1:
		return errorf(from, to, "ask for less, as 0.99",
			"however many launches succeed, they do not show that none would ever fail: a share from %s on is never shown",
			number(*b.Lower))
	case b.Upper != nil && *b.Upper <= 0:
		return errorf(from, to, "ask for more, as 0.01", "however many launches fail, they do not show that all would")
	case (b.Lower == nil || *b.Lower <= 0) && (b.Upper == nil || *b.Upper >= 1):
		return errorf(from, to, "check the number", "every share lies there")
	}
	return nil
}
