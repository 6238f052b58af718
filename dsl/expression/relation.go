package expression

import (
	"strings"

	"weir/quantity"
)

// relation is one comparison: a measured side and what it is held against.
type relation struct {
	parser *sideParser
	op     token   // the comparing word, for errors that only appear with a case's values
	word   string  // within, between, >=, >, <=, <, increases, decreases
	left   *term   // what is judged
	right  *term   // the target; the lower end of between; nil for a trend
	upper  *term   // the upper end of between
	share  float64 // the P of within; the tolerance of a trend
	unit   string  // the unit in which bounds are given when the target is constant
	axis   string  // of a trend
}

// sides are the terms that the relation has.
func (r *relation) sides() []*term {
	sides := []*term{r.left}
	for _, t := range []*term{r.right, r.upper} {
		if t != nil {
			sides = append(sides, t)
		}
	}
	return sides
}

// split finds the relation and compiles its sides.
func (r *relation) split(body []token) *Error {
	i := find(body, 0, isRelation)
	if i < 0 {
		if b := find(body, 0, isBoolean); b >= 0 {
			return combined(body[b])
		}
		if _, err := r.parser.side(body, body[0], "after"); err != nil {
			return err // says more than that something is missing
		}
		return errorf(body[0].from, body[len(body)-1].to, forms, "nothing is compared here")
	}
	op := body[i]
	r.word, r.op = op.text, op
	before, after := body[:i], body[i+1:]
	if b := find(before, 0, isBoolean); b >= 0 {
		return combined(before[b])
	}
	var err *Error
	if r.left, err = r.parser.side(before, op, "before"); err != nil {
		return err
	}
	switch op.text {
	case "==", "!=", "=":
		return errorf(op.from, op.to, "write `within 1% of`, or >= and <=", "a measured value is never exactly equal to another")
	case "≥", "≤":
		return errorf(op.from, op.to, "write >= or <=", "there is no operator %s", op.text)
	case "within":
		return r.within(after)
	case "between":
		return r.between(after)
	case "increases", "decreases":
		return r.trend(after)
	}
	if err := single(after); err != nil {
		return err
	}
	if r.right, err = r.parser.side(after, op, "after"); err != nil {
		return err
	}
	if !r.left.measured() && r.right.measured() {
		r.left, r.right = r.right, r.left
		r.word = map[string]string{">=": "<=", "<=": ">=", ">": "<", "<": ">"}[r.word]
	}
	return r.check(r.right)
}

// combined refuses `a and b`: each assertion has its own verdict.
func combined(t token) *Error {
	return errorf(t.from, t.to, "write two assertions, each with its own verdict", "an assertion says one thing, without %q", t.text)
}

// single refuses a second relation or a boolean word on the right.
func single(after []token) *Error {
	if b := find(after, 0, isBoolean); b >= 0 {
		return combined(after[b])
	}
	if i := find(after, 0, isRelation); i >= 0 {
		return errorf(after[i].from, after[i].to, "for two ends write `x between a and b`", "a second comparison follows")
	}
	return nil
}

func (r *relation) within(after []token) *Error {
	of := find(after, 0, word("of"))
	if of < 0 {
		return errorf(r.op.from, r.op.to, "write `x within 10% of y`", "`of` is missing after within")
	}
	var err *Error
	if r.share, err = r.parser.percent(after[:of], r.op); err != nil {
		return err
	}
	if err := single(after[of+1:]); err != nil {
		return err
	}
	if r.right, err = r.parser.side(after[of+1:], after[of], "after"); err != nil {
		return err
	}
	return r.check(r.right)
}

func (r *relation) between(after []token) *Error {
	and := find(after, 0, word("and"))
	if and < 0 {
		return errorf(r.op.from, r.op.to, "write `x between a and b`", "`and` is missing after between")
	}
	if err := single(after[and+1:]); err != nil {
		return err
	}
	var err *Error
	if r.right, err = r.parser.side(after[:and], r.op, "after"); err != nil {
		return err
	}
	if r.upper, err = r.parser.side(after[and+1:], after[and], "after"); err != nil {
		return err
	}
	if err := r.check(r.right); err != nil {
		return err
	}
	if r.right.measured() != r.upper.measured() {
		return errorf(r.upper.from, r.upper.to, "write two assertions, one with >= and one with <=", "one end of between is measured and the other is not")
	}
	return r.check(r.upper)
}

func (r *relation) trend(after []token) *Error {
	op := r.op
	if len(after) < 2 || !word("with")(after[0]) || after[1].kind != nameToken {
		return errorf(op.from, op.to, "write `x "+op.text+" with AXIS`", "`with` and an axis are missing after %s", op.text)
	}
	axis := after[1]
	if _, ok := r.parser.names.axis(axis.text); !ok {
		return r.parser.names.unknownAxis(axis)
	}
	r.axis = axis.text
	rest := after[2:]
	if len(rest) > 0 {
		if isBoolean(rest[0]) {
			return combined(rest[0])
		}
		if !word("within")(rest[0]) {
			return errorf(rest[0].from, rest[len(rest)-1].to, "only `within P`, the step back that is allowed, may follow", "%q is not expected after the axis", rest[0].text)
		}
		var err *Error
		if r.share, err = r.parser.percent(rest[1:], rest[0]); err != nil {
			return err
		}
	}
	if err := r.trendable(); err != nil {
		return err
	}
	return r.setUnit()
}

// trendable checks what moves along an axis. A trend has one subject for all of
// its cases, so everything in it must be the launch's own.
func (r *relation) trendable() *Error {
	if !r.left.measured() {
		return r.unmeasured()
	}
	var err *Error
	r.left.each(func(t *term, aggregated bool) {
		switch {
		case err != nil || aggregated:
		case t.op.Aggregates():
			err = errorf(t.from, t.to, "name the metric by itself: a trend goes over the cases already", "a trend of an aggregate has one value only")
		case t.op == knob:
			err = errorf(t.from, t.to, "leave it out, or compare single cases", "%q may differ from case to case, and a trend has one subject", t.knob)
		case t.other != nil || t.baseline || t.op == reference:
			err = errorf(t.from, t.to, "compare case by case, with >= or within", "a trend is one of the run's own metrics")
		}
	})
	return err
}

func (r *relation) unmeasured() *Error {
	return errorf(r.left.from, r.left.to, "name a metric: "+strings.Join(r.parser.names.metricNames(), ", ")+". To choose cases write `where`", "nothing here is measured")
}

// check holds a target against the left side: something must be measured, and
// both must be of one dimension.
func (r *relation) check(target *term) *Error {
	if !r.left.measured() {
		if target.measured() {
			return errorf(r.left.from, r.left.to, "put the metric first", "the left side of %s is the one that is judged, and nothing in it is measured", r.word)
		}
		return r.unmeasured()
	}
	if target.measured() {
		if target.dim != r.left.dim {
			return r.mismatch(target)
		}
		if r.word != "within" && target.mayBeNegative() {
			return errorf(target.from, target.to, "move what is subtracted to the other side, with +", "the measured target could become negative or zero")
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

// setUnit chooses the unit of the bounds: that of the first metric of the
// subject's own dimension.
func (r *relation) setUnit() *Error {
	if unit, ok := r.left.unitOf(r.left.dim); ok {
		r.unit = unit
		return nil
	}
	unit, ok := map[quantity.Dimension]string{
		quantity.Number: "", quantity.RateDim: "GB/s", quantity.TimeDim: "s", quantity.SizeDim: "B", quantity.Frequency: "1/s",
	}[r.left.dim]
	if !ok {
		return errorf(r.left.from, r.left.to, "divide or multiply until it is a rate, a time, a size or a ratio", "the left side is in %s, which has no unit", r.left.dim)
	}
	r.unit = unit
	return nil
}

func (r *relation) mismatch(target *term) *Error {
	hint := "compare a " + r.left.dim.String() + " with a " + r.left.dim.String()
	u := target.literal
	switch {
	case target.percent:
		hint = "say of what: write 0.2 * ceiling.bandwidth for 20 % of a metric"
	case u != "" && target.dim == quantity.SizeDim && r.left.dim == quantity.RateDim:
		hint = "did you mean " + u + "/s?"
	case u != "" && target.dim == quantity.RateDim && r.left.dim == quantity.SizeDim:
		hint = "did you mean " + strings.TrimSuffix(u, "/s") + "?"
	}
	return errorf(target.from, target.to, hint, "%q is a %s, and %q is a %s", r.source(target), target.dim, r.source(r.left), r.left.dim)
}

func (r *relation) source(t *term) string {
	return strings.TrimSpace(string(r.parser.runes[t.from:t.to]))
}
