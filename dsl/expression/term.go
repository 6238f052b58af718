package expression

import (
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// term is one side of an assertion as a checked tree. It becomes an assertion.Expr when a case
// gives its options and axes their values.
type term struct {
	op       assertion.Op // an operation of package assertion, or knob or reference
	metric   string       // of Metric and reference
	unit     string       // of the metric
	other    *otherRun    // the run of a Metric; nil: the assertion's run
	baseline bool         // whether a Metric is from the baseline
	knob     string       // option or axis
	over     []string     // axes of an aggregate; none: all
	value    float64
	dim      quantity.Dimension
	bare     bool   // only numbers without units: takes the unit of the other side
	percent  bool   // a percent literal
	literal  string // a quantity literal as written
	written  string // the unit of a quantity literal
	from, to int
	args     []*term
	height   int // of the tree; 0: no operands
}

func (t *term) errorf(hint, format string, args ...any) *Error {
	return errorf(t.from, t.to, hint, format, args...)
}

// Operations that lowering turns into constants.
const (
	knob      assertion.Op = "knob"
	reference assertion.Op = "reference"
)

// otherRun is run("x") or run("x", condition), or at(condition) of the same run.
type otherRun struct {
	name    string
	names   *Names
	where   *Condition // nil: every case
	sibling bool       // it is of the same run
}

// same reports whether two mentions of a run select the same cases.
func (o *otherRun) same(p *otherRun) bool {
	if o.name != p.name || o.sibling != p.sibling || (o.where == nil) != (p.where == nil) {
		return false
	}
	return o.where == nil || o.where.text == p.where.text
}

// each visits the term and all its descendants; aggregated tells whether an ancestor is an
// aggregate.
func (t *term) each(visit func(t *term, aggregated bool)) { t.walk(visit, false) }

func (t *term) walk(visit func(*term, bool), aggregated bool) {
	visit(t, aggregated)
	for _, a := range t.args {
		a.walk(visit, aggregated || t.op.Aggregates())
	}
}

// has reports whether the term or one of its descendants satisfies is.
func (t *term) has(is func(*term) bool) bool {
	return is(t) || slices.ContainsFunc(t.args, func(a *term) bool { return a.has(is) })
}

// measured reports whether the term has a metric.
func (t *term) measured() bool {
	return t.has(func(t *term) bool { return t.op == assertion.Metric })
}

// own reports whether the term has a metric of the assertion's run.
func (t *term) own() bool {
	return t.has(func(t *term) bool { return t.op == assertion.Metric && t.other == nil && !t.baseline })
}

// domain returns the run of the cases of an aggregate: nil for the assertion's run.
func (t *term) domain() *otherRun {
	var other *otherRun
	ofOwn := false
	t.each(func(t *term, _ bool) {
		if t.op == assertion.Metric {
			ofOwn = ofOwn || t.other == nil
			other = t.other
		}
	})
	if ofOwn {
		return nil
	}
	return other
}

// mayBeNegative is false only for metrics and positive numbers combined by + * and /.
func (t *term) mayBeNegative() bool {
	return t.has(func(t *term) bool {
		return t.op == assertion.Sub || t.op == assertion.Const && t.value <= 0
	})
}

// unitOf returns the unit of the first metric of a dimension.
func (t *term) unitOf(d quantity.Dimension) (string, bool) {
	if t.op == assertion.Metric && t.dim == d {
		return t.unit, true
	}
	for _, a := range t.args {
		if u, ok := a.unitOf(d); ok {
			return u, true
		}
	}
	return "", false
}
