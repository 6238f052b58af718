package expression

import (
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results/assertion"
)

// relation is one comparison of a measured side with a target.
type relation struct {
	parser *assertionParser
	op     token   // the comparing word, for errors found only with a case's values
	word   string  // within, between, >=, >, <=, <, increases, decreases
	left   *term   // the judged side
	right  *term   // the target; the lower end of between; nil for a trend
	upper  *term   // the upper end of between
	share  float64 // the P of within, or the tolerance of a trend
	unit   string  // the unit of the bounds if the target is constant
	axis   string  // of a trend
}

// sides returns the terms of the relation.
func (r *relation) sides() []*term {
	sides := []*term{r.left}
	for _, t := range []*term{r.right, r.upper} {
		if t != nil {
			sides = append(sides, t)
		}
	}
	return sides
}

// relation reads a relation to its end.
func (p *assertionParser) relation() (*relation, *Error) {
	r := &relation{parser: p, op: p.peek()}
	from := r.op.from
	if isRelation(r.op) {
		return nil, p.missingSide(r.op, "before")
	}
	var err *Error
	if r.left, err = p.sum(); err != nil {
		return nil, err
	}
	if p.relationEnded() {
		return nil, errorf(from, p.last().to, forms, "there is no comparison here")
	}
	if r.op = p.peek(); !isRelation(r.op) {
		return nil, p.unexpected(r.op)
	}
	p.next()
	r.word = r.op.text
	switch r.word {
	case "=":
		if p.peek().is(">") || p.peek().is("<") {
			return nil, r.op.errorf("write "+p.peek().text+"=", "there is no operator =%s", p.peek().text)
		}
		fallthrough
	case "==", "!=":
		if r.left.op == knob {
			return nil, r.op.errorf("to judge only some cases, write `METRIC >= BOUND where "+r.left.knob+" == …`",
				"the setting %s is not measured", r.left.knob)
		}
		return nil, r.op.errorf(r.insteadOfEqual(), "a measured value is never exactly equal to another")
	case "≥", "≤":
		return nil, r.op.errorf("write >= or <=", "there is no operator %s", r.word)
	case "within":
		return r, r.within()
	case "between":
		return r, r.between()
	case "increases", "decreases":
		return r, r.trend()
	}
	return r, r.comparison()
}

// relationEnded reports whether the relation is complete.
func (p *assertionParser) relationEnded() bool {
	return p.ended() || p.quantifier != "" && p.open == 0 && (p.is(",") || p.is(")"))
}

func (p *assertionParser) missingSide(of token, where string) *Error {
	return of.errorf(forms, "a value is missing %s %s", where, of.text)
}

// lastSide reads the last term of a relation.
func (p *assertionParser) lastSide(of token) (*term, *Error) {
	if p.relationEnded() {
		return nil, p.missingSide(of, "after")
	}
	t, err := p.sum()
	if err == nil && !p.relationEnded() {
		err = p.unexpected(p.peek())
	}
	return t, err
}

// refuseCombination refuses `a and b`: each assertion has its own verdict.
func refuseCombination(t token) *Error {
	return t.errorf("write two assertions, each with its own verdict", "%q cannot combine relations",
		t.text)
}

func (r *relation) comparison() *Error {
	var err *Error
	if r.right, err = r.parser.lastSide(r.op); err != nil {
		return err
	}
	if !r.left.measured() && r.right.measured() {
		r.left, r.right = r.right, r.left
		r.word = map[string]string{">=": "<=", "<=": ">=", ">": "<", "<": ">"}[r.word]
	}
	return r.check(r.right)
}

// until reads the first operand of within and between, and the word after it.
func (r *relation) until(word, form string) (*term, token, *Error) {
	p := r.parser
	missing := r.op.errorf("write `"+form+"`", "`%s` is missing after %s", word, r.word)
	switch {
	case p.relationEnded():
		return nil, token{}, missing
	case p.is(word):
		return nil, token{}, p.missingSide(r.op, "after")
	}
	t, err := p.sum()
	if err != nil {
		return nil, token{}, err
	}
	next := p.peek()
	if p.take(word) {
		return t, next, nil
	}
	if p.relationEnded() || next.kind == quantityToken ||
		next.kind == nameToken && !isRelation(next) && !isBoolean(next) {
		return nil, token{}, missing
	}
	return nil, token{}, p.unexpected(next)
}

func (r *relation) within() *Error {
	share, of, err := r.until("of", "x within 10% of y")
	if err != nil {
		return err
	}
	if r.share, err = r.parser.percent(share); err != nil {
		return err
	}
	if r.right, err = r.parser.lastSide(of); err != nil {
		return err
	}
	return r.check(r.right)
}

func (r *relation) between() *Error {
	var and token
	var err *Error
	if r.right, and, err = r.until("and", "x between a and b"); err != nil {
		return err
	}
	if r.upper, err = r.parser.lastSide(and); err != nil {
		return err
	}
	if err := r.check(r.right); err != nil {
		return err
	}
	if r.right.measured() != r.upper.measured() {
		return r.upper.errorf("write two assertions, one with >= and one with <=",
			"one end of between has a metric and the other does not")
	}
	return r.check(r.upper)
}

func (r *relation) trend() *Error {
	p, op := r.parser, r.op
	if !p.take("with") || p.peek().kind != nameToken {
		return op.errorf("write `x "+op.text+" with AXIS`", "`with` and an axis are missing after %s", op.text)
	}
	axis := p.next()
	if _, ok := p.names.axis(axis.text); !ok {
		return p.names.unknownAxis(axis)
	}
	r.axis = axis.text
	if within := p.peek(); p.take("within") {
		share, err := p.lastSide(within)
		if err != nil {
			return err
		}
		if r.share, err = p.percent(share); err != nil {
			return err
		}
	}
	switch t := p.peek(); {
	case p.relationEnded():
	case isBoolean(t):
		return refuseCombination(t)
	default:
		return errorf(t.from, p.tokens[len(p.tokens)-1].to,
			"only `within P`, the allowed step back, may follow",
			"unexpected %q after the axis", t.text)
	}
	if err := r.checkTrendSubject(); err != nil {
		return err
	}
	return r.setUnit()
}

// percent checks the P of within.
func (p *assertionParser) percent(t *term) (float64, *Error) {
	switch {
	case t.op != assertion.Const || t.dim != quantity.Number:
		return 0, t.errorf("write a percentage, as 10%; for ends in units write `x between a and b`",
			"the tolerance is not a percentage")
	case t.value <= 0:
		return 0, t.errorf("write a percentage above 0", "the tolerance is not positive")
	case t.value >= 1:
		hint := "for such a wide band write `x between a and b`"
		if t.bare {
			hint = "did you mean " + string(p.runes[t.from:t.to]) + "%?"
		}
		return 0, t.errorf(hint, "the tolerance is 100 %% or more")
	}
	return t.value, nil
}

// checkTrendSubject checks the subject of a trend. All cases share it, so every term must be measured in
// the launch itself.
func (r *relation) checkTrendSubject() *Error {
	if !r.left.measured() {
		return r.unmeasured()
	}
	var err *Error
	r.left.each(func(t *term, aggregated bool) {
		switch {
		case err != nil || aggregated:
		case t.op.Aggregates():
			err = t.errorf("write the metric without an aggregate: a trend already covers all cases",
				"an aggregate has only one value, so there is no trend")
		case t.op == knob:
			err = t.errorf("leave it out, or compare single cases",
				"%q may differ between cases, but a trend has one subject", t.knob)
		case t.other != nil || t.baseline || t.op == reference:
			err = t.errorf("compare case by case, with >= or within", "a trend must be of the run's own metrics")
		}
	})
	return err
}

func (r *relation) unmeasured() *Error {
	return r.left.errorf(
		"name a metric: "+suggest.Few("", r.parser.names.metricNames(), metricsListed)+
			". To select cases write `where`",
		"there is no metric here")
}

// check checks a target against the left side: one must be measured, and both must have the same
// dimension.
func (r *relation) check(target *term) *Error {
	if !r.left.measured() {
		if target.measured() {
			return r.left.errorf("put the metric first",
				"the left side of %s is judged, but has no metric", r.word)
		}
		return r.unmeasured()
	}
	if target.measured() {
		if target.dim != r.left.dim {
			return r.mismatch(target)
		}
		if r.word != "within" && target.mayBeNegative() {
			return target.errorf("move the subtracted value to the other side, with +",
				"the target could become negative or zero")
		}
		return nil
	}
	if err := r.setUnit(); err != nil {
		return err
	}
	if target.dim == r.left.dim || target.bare {
		return nil
	}
	return r.mismatch(target)
}

// setUnit chooses the unit of the bounds: that of the first metric of the subject's dimension.
func (r *relation) setUnit() *Error {
	if unit, ok := r.left.unitOf(r.left.dim); ok {
		r.unit = unit
		return nil
	}
	unit, ok := map[quantity.Dimension]string{
		quantity.Number: "", quantity.RateDim: "GB/s", quantity.TimeDim: "s", quantity.SizeDim: "B",
		quantity.Frequency: "1/s",
	}[r.left.dim]
	if !ok {
		return r.left.errorf("divide or multiply until it is a rate, a time, a size or a ratio",
			"the left side is in %s, which has no unit", r.left.dim)
	}
	r.unit = unit
	return nil
}

func (r *relation) mismatch(target *term) *Error {
	hint := "compare a " + r.left.dim.String() + " with a " + r.left.dim.String()
	u := target.literal
	switch {
	case r.source(target) == "ceiling":
		hint = "ceiling is the share that the metric reaches of ceiling.bandwidth: write ceiling >= 0.9"
	case target.percent && r.left.dim == quantity.Frequency:
		hint = "write a number per second, as 100/s, or a share of another metric, as 0.9 * request_rate"
	case target.percent:
		hint = "for 20 % of a metric write 0.2 * ceiling.bandwidth"
	case u != "" && target.dim == quantity.SizeDim && r.left.dim == quantity.RateDim:
		hint = "did you mean " + u + "/s?"
	case u != "" && target.dim == quantity.RateDim && r.left.dim == quantity.SizeDim:
		hint = "did you mean " + strings.TrimSuffix(u, "/s") + "?"
	}
	return target.errorf(hint, "%q is a %s, but %q is a %s", r.source(target), target.dim, r.source(r.left), r.left.dim)
}

func (r *relation) source(t *term) string {
	return strings.TrimSpace(string(r.parser.runes[t.from:t.to]))
}
