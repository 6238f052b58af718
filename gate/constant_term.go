package gate

import (
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// constantTerm is the constant that was taken from a check's subject: the check was written as the subject
// less the constant or, if reversed, as the constant less the subject.
//
// gain(METRIC) is such a difference: a ratio less one. Launches vary by a factor, so the ratio is judged,
// on the log scale, against bounds moved by the constant. Its interval then never reaches below −100 %,
// and the same statement about the ratio gets the same verdict.
type constantTerm struct {
	expr     *assertion.Expr
	value    float64 // of the constant, in the unit of the check
	reversed bool
}

// withoutConstant returns the equivalent check of a positive subject, if the check is of a difference
// between it and a constant; else the check. A metric less a constant stays as it is.
func (check boundCheck) withoutConstant() boundCheck {
	e := check.subject
	if e.Op != assertion.Sub || len(e.Args) != 2 || e.Args[0] == nil || e.Args[1] == nil {
		return check
	}
	of, d := e.Args[0], constantTerm{expr: e.Args[1]}
	if of.Op == assertion.Const {
		of, d = e.Args[1], constantTerm{expr: of, reversed: true}
	}
	if d.expr.Op != assertion.Const || of.Op == assertion.Metric || !positive(check.metrics, of) {
		return check
	}
	var err error
	if d.value, err = d.expr.EvalWith(nil, check.unit); err != nil {
		return check
	}
	check.constant, check.subject = &d, of
	check.bounds = d.moved(check.bounds, d.subject)
	return check
}

// asWritten returns the check and its estimate as the author wrote the subject.
func (check boundCheck) asWritten(e estimate) (boundCheck, estimate) {
	d := check.constant
	if d == nil {
		return check, e
	}
	args := []*assertion.Expr{check.subject, d.expr}
	if e = (estimate{d.written(e.center), d.written(e.lo), d.written(e.hi), e.n}); d.reversed {
		args[0], args[1] = args[1], args[0]
		e.lo, e.hi = e.hi, e.lo
	}
	check.constant, check.subject = nil, &assertion.Expr{Op: assertion.Sub, Args: args}
	check.bounds = d.moved(check.bounds, d.written)
	return check, e
}

// subject is the subject's value at a value of the difference.
func (d *constantTerm) subject(v float64) float64 {
	if d.reversed {
		return quantity.Round(d.value - v)
	}
	return quantity.Round(v + d.value)
}

// written is the value of the difference at a value of the subject.
func (d *constantTerm) written(v float64) float64 {
	if d.reversed {
		return quantity.Round(d.value - v)
	}
	return quantity.Round(v - d.value)
}

// moved applies a conversion to both bounds.
func (d *constantTerm) moved(b assertion.Bounds, to func(float64) float64) assertion.Bounds {
	out := assertion.Bounds{Strict: b.Strict}
	for _, end := range []struct{ from, to **float64 }{{&b.Lower, &out.Lower}, {&b.Upper, &out.Upper}} {
		if *end.from != nil {
			v := to(**end.from)
			*end.to = &v
		}
	}
	if d.reversed {
		out.Lower, out.Upper = out.Upper, out.Lower
	}
	return out
}
