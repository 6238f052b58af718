package expression

import (
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// inPercent reports whether a term is a metric in percent, or a sum, an aggregate or a multiple of such. A bare
// number beside it is in percent, as one beside a time in ms is in ms. A quotient of two metrics is a plain
// number.
func (t *term) inPercent() bool {
	measured := slices.DeleteFunc(slices.Clone(t.args), func(a *term) bool { return !a.measured() })
	switch {
	case t.op == assertion.Metric:
		return t.unit == "%"
	case len(measured) == 0, t.op == assertion.Mul && len(measured) > 1,
		t.op == assertion.Div && t.args[1].measured():
		return false
	}
	return !slices.ContainsFunc(measured, func(a *term) bool { return !a.inPercent() })
}

// checkPercent refuses the sum of percentages and a bare number, which could be a share.
func (t *term) checkPercent() *Error {
	a, b := t.args[0], t.args[1]
	if b.inPercent() {
		a, b = b, a
	}
	if !a.inPercent() || !b.bare || b.op != assertion.Const || b.value == 0 {
		return nil
	}
	text := number(quantity.Round(b.value))
	return b.errorf("write "+text+"%", "%s beside a percentage has no unit", text)
}

// Doubts are bounds that can be read in two ways: a bare number up to 1 for a metric in percent, which could be
// meant as a share.
func (a *Assertion) Doubts() (all []*Error) {
	for _, r := range a.relations {
		if !r.left.inPercent() {
			continue
		}
		for _, bound := range r.sides()[1:] {
			if !bound.bare || bound.op != assertion.Const || bound.value <= 0 || bound.value > 1 {
				continue
			}
			text := number(quantity.Round(bound.value))
			all = append(all, bound.errorf(
				"write "+text+"%, or "+number(quantity.Round(bound.value*100))+"% if it is meant as a share",
				"%s without a unit means %[1]s%%, as %s is in percent", text, r.source(r.left)))
		}
	}
	return all
}
