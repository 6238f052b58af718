package expression

import (
	"strings"

	"weir/quantity"
)

// Assertion is a compiled assertion: one relation between a measured side and
// what it is held against.
type Assertion struct {
	text     string
	names    *Names
	where    *Condition // nil: every case
	relation string     // within, between, >=, >, <=, <, increases, decreases
	left     *term
	right    *term    // the target; the lower end of between; nil for a trend
	upper    *term    // the upper end of between
	share    float64  // the P of within; the tolerance of a trend
	unit     string   // the unit in which bounds are given when the target is constant
	axis     string   // of a trend
	at       relation // for errors that only appear with a case's values
}

// relation is where the comparing word stands, and the words that go with it.
type relation struct{ op, second token }

const forms = "an assertion is one of `x within 10% of y`, `x between a and b`, `x >= y`, `x <= y`, `x increases with AXIS`, `x decreases with AXIS`, and may end with `where CONDITION`"

// Assertion compiles an assertion.
func (n *Names) Assertion(text string) (*Assertion, *Error) {
	r, tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	a := &Assertion{text: text, names: n}
	body := tokens
	if i := find(tokens, 0, func(t token) bool { return t.kind == nameToken && t.text == "where" }); i >= 0 {
		body = tokens[:i]
		if i == len(tokens)-1 {
			return nil, errorf(tokens[i].from, tokens[i].to, "write a condition, as block_size == 64MiB", "nothing stands after where")
		}
		if a.where, err = conditionFrom(r, tokens[i+1:], n, false); err != nil {
			return nil, err
		}
	}
	if len(body) == 0 {
		return nil, errorf(0, max(len(r), 1), forms, "the assertion is empty")
	}
	p := &sideParser{names: n, runes: r}
	if err := a.split(p, body); err != nil {
		return nil, err
	}
	return a, nil
}

// Text is the assertion as it was written.
func (a *Assertion) Text() string { return a.text }

// Where is the condition that chooses cases; nil for all of them.
func (a *Assertion) Where() *Condition { return a.where }

// TrendAxis is the axis of a trend, "" for any other assertion.
func (a *Assertion) TrendAxis() string { return a.axis }

// find gives the first token outside parentheses, from a start, that satisfies.
func find(tokens []token, start int, is func(token) bool) int {
	depth := 0
	for i, t := range tokens {
		if t.kind == symbolToken {
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		if i >= start && depth == 0 && is(t) {
			return i
		}
	}
	return -1
}

func isRelation(t token) bool {
	switch t.text {
	case "within", "between", "increases", "decreases":
		return t.kind == nameToken
	case ">=", "<=", ">", "<", "==", "!=", "=", "≥", "≤":
		return t.kind == symbolToken
	}
	return false
}

func isBoolean(t token) bool {
	switch t.text {
	case "and", "or", "not":
		return t.kind == nameToken
	case "&&", "||", "!":
		return t.kind == symbolToken
	}
	return false
}

func word(w string) func(token) bool {
	return func(t token) bool { return t.kind == nameToken && t.text == w }
}

// split finds the relation and compiles its sides.
func (a *Assertion) split(p *sideParser, body []token) *Error {
	i := find(body, 0, isRelation)
	if i < 0 {
		if b := find(body, 0, isBoolean); b >= 0 {
			return combined(body[b])
		}
		return errorf(body[0].from, body[len(body)-1].to, forms, "nothing is compared here")
	}
	op := body[i]
	a.relation, a.at.op = op.text, op
	before, after := body[:i], body[i+1:]
	if b := find(before, 0, isBoolean); b >= 0 {
		return combined(before[b])
	}
	var err *Error
	if a.left, err = p.side(before, op, "before"); err != nil {
		return err
	}
	switch op.text {
	case "==", "!=", "=":
		return errorf(op.from, op.to, "write `within 1% of`, or >= and <=", "a measured value is never exactly equal to another")
	case "≥", "≤":
		return errorf(op.from, op.to, "write >= or <=", "there is no operator %s", op.text)
	case "within":
		return a.within(p, after)
	case "between":
		return a.between(p, after)
	case "increases", "decreases":
		return a.trend(p, after)
	}
	if err := single(after); err != nil {
		return err
	}
	if a.right, err = p.side(after, op, "after"); err != nil {
		return err
	}
	if !a.left.measured() && a.right.measured() {
		a.left, a.right = a.right, a.left
		a.relation = map[string]string{">=": "<=", "<=": ">=", ">": "<", "<": ">"}[a.relation]
	}
	return a.check(a.right)
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

func (a *Assertion) within(p *sideParser, after []token) *Error {
	of := find(after, 0, word("of"))
	if of < 0 {
		return errorf(a.at.op.from, a.at.op.to, "write `x within 10% of y`", "`of` is missing after within")
	}
	a.at.second = after[of]
	var err *Error
	if a.share, err = p.percent(after[:of], a.at.op); err != nil {
		return err
	}
	if err := single(after[of+1:]); err != nil {
		return err
	}
	if a.right, err = p.side(after[of+1:], after[of], "after"); err != nil {
		return err
	}
	return a.check(a.right)
}

func (a *Assertion) between(p *sideParser, after []token) *Error {
	and := find(after, 0, word("and"))
	if and < 0 {
		return errorf(a.at.op.from, a.at.op.to, "write `x between a and b`", "`and` is missing after between")
	}
	a.at.second = after[and]
	if err := single(after[and+1:]); err != nil {
		return err
	}
	var err *Error
	if a.right, err = p.side(after[:and], a.at.op, "after"); err != nil {
		return err
	}
	if a.upper, err = p.side(after[and+1:], after[and], "after"); err != nil {
		return err
	}
	if err := a.check(a.right); err != nil {
		return err
	}
	if a.right.measured() != a.upper.measured() {
		return errorf(a.upper.from, a.upper.to, "write two assertions, one with >= and one with <=", "one end of between is measured and the other is not")
	}
	return a.check(a.upper)
}

func (a *Assertion) trend(p *sideParser, after []token) *Error {
	op := a.at.op
	if len(after) < 2 || !word("with")(after[0]) || after[1].kind != nameToken {
		return errorf(op.from, op.to, "write `x "+op.text+" with AXIS`", "`with` and an axis are missing after %s", op.text)
	}
	axis := after[1]
	if _, ok := p.names.axis(axis.text); !ok {
		return p.names.unknownAxis(axis)
	}
	a.axis = axis.text
	rest := after[2:]
	if len(rest) > 0 {
		if isBoolean(rest[0]) {
			return combined(rest[0])
		}
		if !word("within")(rest[0]) {
			return errorf(rest[0].from, rest[len(rest)-1].to, "only `within P`, the step back that is allowed, may follow", "%q is not expected after the axis", rest[0].text)
		}
		var err *Error
		if a.share, err = p.percent(rest[1:], rest[0]); err != nil {
			return err
		}
	}
	if !a.left.measured() {
		return a.unmeasured()
	}
	return a.setUnit()
}

func (n *Names) unknownAxis(t token) *Error {
	var known []string
	for _, a := range n.Axes {
		known = append(known, a.Name)
	}
	if len(known) == 0 {
		return errorf(t.from, t.to, "give the run a sweep over "+t.text, "the run has no axes")
	}
	return errorf(t.from, t.to, "its axes are "+strings.Join(known, ", "), "the run has no axis %q", t.text)
}

func (a *Assertion) unmeasured() *Error {
	return errorf(a.left.from, a.left.to, "name a metric: "+strings.Join(a.names.metricNames(), ", ")+". To choose cases write `where`", "nothing here is measured")
}

// check holds a target against the left side: something must be measured, and
// both must be of one dimension.
func (a *Assertion) check(target *term) *Error {
	if !a.left.measured() {
		if target.measured() {
			return errorf(a.left.from, a.left.to, "put the metric first", "the left side of %s is the one that is judged, and nothing in it is measured", a.relation)
		}
		return a.unmeasured()
	}
	if target.measured() {
		if target.dim != a.left.dim {
			return a.mismatch(target)
		}
		if a.relation != "within" && target.mayBeNegative() {
			return errorf(target.from, target.to, "move what is subtracted to the other side, with +", "the measured target could become negative or zero")
		}
		return nil
	}
	if err := a.setUnit(); err != nil {
		return err
	}
	if target.dim == a.left.dim || target.bare {
		return nil
	}
	return a.mismatch(target)
}

// setUnit chooses the unit of the bounds: that of the first metric of the
// subject's own dimension.
func (a *Assertion) setUnit() *Error {
	if unit, ok := a.left.unitOf(a.left.dim); ok {
		a.unit = unit
		return nil
	}
	unit, ok := map[quantity.Dimension]string{
		quantity.Number: "", quantity.RateDim: "GB/s", quantity.TimeDim: "s", quantity.SizeDim: "B", quantity.Frequency: "1/s",
	}[a.left.dim]
	if !ok {
		return errorf(a.left.from, a.left.to, "divide or multiply until it is a rate, a time, a size or a ratio", "the left side is in %s, which has no unit", a.left.dim)
	}
	a.unit = unit
	return nil
}

func (a *Assertion) mismatch(target *term) *Error {
	hint := "compare a " + a.left.dim.String() + " with a " + a.left.dim.String()
	u := target.literal
	switch {
	case target.percent:
		hint = "say of what: write 0.2 * ceiling.bandwidth for 20 % of a metric"
	case u != "" && target.dim == quantity.SizeDim && a.left.dim == quantity.RateDim:
		hint = "did you mean " + u + "/s?"
	case u != "" && target.dim == quantity.RateDim && a.left.dim == quantity.SizeDim:
		hint = "did you mean " + strings.TrimSuffix(u, "/s") + "?"
	}
	return errorf(target.from, target.to, hint, "%q is a %s, and %q is a %s", a.source(target), target.dim, a.source(a.left), a.left.dim)
}

func (a *Assertion) source(t *term) string {
	return strings.TrimSpace(string([]rune(a.text)[t.from:t.to]))
}
