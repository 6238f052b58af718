package expression

import (
	"slices"

	"weir/assertion"
)

// Assertion is a compiled assertion: one relation between a measured side and
// what it is held against, or several under all or any, or a statement about
// transports or a provider.
type Assertion struct {
	text       string
	names      *Names
	where      *Condition // nil: every case
	quantifier string     // all | any; "": there is one relation
	relations  []*relation
	transport  *assertion.Transport // a statement about transports, which has no relation
	provider   *assertion.Provider  // one about a fact of a provider, which has none either
	from, to   int                  // without where
	gains      bool                 // it holds variants against their baseline

	reach Reach
	over  []string
}

const forms = "an assertion is one of `x within 10% of y`, `x between a and b`, `x >= y`, `x <= y`, `x increases with AXIS`, `x decreases with AXIS`, `transport == \"NAME\"`, `provider.NAME == \"VALUE\"`, or `all(…)` or `any(…)` of them, and may end with `where CONDITION`"

// Assertion compiles an assertion.
func (n *Names) Assertion(text string) (*Assertion, *Error) {
	r, tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	a := &Assertion{text: text, names: n}
	p := &assertionParser{names: n, runes: r, tokens: tokens}
	where := slices.IndexFunc(tokens, func(t token) bool { return t.is("where") })
	if where >= 0 {
		p.tokens = tokens[:where]
	}
	if len(p.tokens) == 0 {
		return nil, errorf(0, max(len(r), 1), forms, "the assertion is empty")
	}
	a.from, a.to = p.tokens[0].from, p.tokens[len(p.tokens)-1].to
	if err := a.statement(p); err != nil {
		return nil, err
	}
	if where >= 0 {
		t, condition := tokens[where], tokens[where+1:]
		if len(condition) == 0 {
			return nil, t.errorf("write a condition, as block_size == 64MiB", "nothing stands after where")
		}
		if a.where, err = conditionFrom(r, condition, n, false); err != nil {
			return nil, err
		}
	}
	if a.gains = p.gains; a.gains {
		if err := a.exceptBaseline(); err != nil {
			return nil, err
		}
	}
	a.reach, a.over = a.about()
	return a, nil
}

func (a *Assertion) statement(p *assertionParser) *Error {
	var err *Error
	switch at := p.aboutTransport(); {
	case isQuantifier(p.peek()) && len(p.tokens) > 1 && p.tokens[1].is("("):
		return a.quantified(p)
	case at >= 0:
		a.transport, err = p.transport(at)
		return err
	}
	if at := p.aboutProvider(); at >= 0 {
		a.provider, err = p.provider(at)
		return err
	}
	return a.relation(p)
}

func (a *Assertion) relation(p *assertionParser) *Error {
	from := p.peek().from
	r, err := p.relation()
	if err != nil {
		return err
	}
	if err := r.ofCases(); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.sides(), (*term).own) {
		return errorf(from, p.last().to, "write it in the run that it is about, where a metric is named by itself",
			"nothing of this run is judged")
	}
	if p.quantifier != "" && r.axis != "" {
		return errorf(from, p.last().to, "write the trend as an assertion of its own",
			"a trend cannot stand in %s", p.quantifier)
	}
	a.relations = append(a.relations, r)
	return nil
}

func isQuantifier(t token) bool {
	return t.kind == nameToken && (t.text == "all" || t.text == "any")
}

// quantified reads all(RELATION, …), which must be the whole.
func (a *Assertion) quantified(p *assertionParser) *Error {
	q, closing := p.next(), p.closing(1)
	p.quantifier, a.quantifier = q.text, q.text
	if closing < 0 {
		return errorf(q.from, a.to, "close it with )", "the parenthesis after %s is not closed", q.text)
	}
	if closing < len(p.tokens)-1 {
		t := p.tokens[closing+1]
		return t.errorf("write "+q.text+"(RELATION, …) as the whole assertion, followed by at most `where CONDITION`",
			"the word %s stands by itself, and %q follows", q.text, t.text)
	}
	if at := p.aboutTransport(); at >= 0 {
		t := p.tokens[at]
		return t.errorf("write it as an assertion of its own", "transports cannot stand in %s", q.text)
	}
	if at := p.aboutProvider(); at >= 0 {
		t := p.tokens[at]
		return t.errorf("write it as an assertion of its own", "facts of providers cannot stand in %s", q.text)
	}
	for p.next(); ; p.next() { // the parenthesis, or a comma
		if p.relationEnded() {
			return errorf(q.from, a.to, "write "+q.text+"(bandwidth >= 40 GB/s, latency.p99 <= 60us)",
				"a relation is missing in %s", q.text)
		}
		if err := a.relation(p); err != nil {
			return err
		}
		if p.is(")") {
			return nil
		}
	}
}

func (a *Assertion) errorf(hint, format string, args ...any) *Error {
	return errorf(a.from, a.to, hint, format, args...)
}

// Text is the assertion as it was written.
func (a *Assertion) Text() string { return a.text }

// Gains says whether the assertion is about gains of variants, of which their baseline has none.
func (a *Assertion) Gains() bool { return a.gains }

// Where is the condition that chooses cases; nil for all of them.
func (a *Assertion) Where() *Condition { return a.where }

// TrendAxis is the axis of a trend, "" for any other assertion.
func (a *Assertion) TrendAxis() string {
	if a.Stated() {
		return ""
	}
	return a.relations[0].axis
}

// Stated says whether the assertion is a statement about transports or a provider: it has no
// number, and nothing of it is estimated.
func (a *Assertion) Stated() bool { return a.transport != nil || a.provider != nil }

// Reach says whether the assertion is about each case, about the cases along an
// axis, or about the cases over OverAxes.
func (a *Assertion) Reach() Reach { return a.reach }

// OverAxes are the axes along which the cases of one lowered assertion differ,
// where Reach is Over; none: all of them.
func (a *Assertion) OverAxes() []string { return slices.Clone(a.over) }

// Parts is how many relations the assertion has.
func (a *Assertion) Parts() int { return len(a.relations) }

// about finds the reach. An own metric outside of aggregates belongs to one
// case. Otherwise the cases of one assertion differ in the axes over which every
// aggregate goes; if the aggregates leave no axis free, that is a case again.
func (a *Assertion) about() (Reach, []string) {
	if a.Stated() {
		return EachCase, nil
	}
	if a.TrendAxis() != "" {
		return Along, nil
	}
	if a.quantifier != "" {
		return Over, nil
	}
	reach := Over
	var common []string
	named := false
	a.each(func(t *term, aggregated bool) {
		switch {
		case t.op == assertion.Metric && t.other == nil && !aggregated:
			reach = EachCase
		case t.op.Aggregates() && t.domain() == nil && len(t.over) > 0:
			if !named {
				common, named = slices.Clone(t.over), true
			}
			common = slices.DeleteFunc(common, func(axis string) bool { return !slices.Contains(t.over, axis) })
		}
	})
	if reach == EachCase || named && len(common) == 0 {
		return EachCase, nil
	}
	return Over, common
}

func (a *Assertion) each(visit func(t *term, aggregated bool)) {
	for _, r := range a.relations {
		for _, side := range r.sides() {
			side.each(visit)
		}
	}
}

// referenced says of which environment the table is that the assertion takes values
// from; nil if it takes none, or the table does not say.
func (a *Assertion) referenced() *assertion.Reference {
	var out *assertion.Reference
	a.each(func(t *term, _ bool) {
		if r := a.names.Reference; t.op == reference && r.Environment != "" {
			out = &assertion.Reference{Table: r.Name, Environment: r.Environment}
		}
	})
	return out
}

// noiseOf is what the table of the run says of how the metrics of a subject vary in a case.
func (a *Assertion) noiseOf(subject *assertion.Expr, s Scope, key string) []assertion.Noise {
	r := a.names.Reference
	if r == nil || subject == nil {
		return nil
	}
	var out []assertion.Noise
	for _, metric := range subject.Metrics() {
		for _, i := range r.fitting(s) {
			row := r.Rows[i]
			if _, has := row.Values[metric]; !has {
				continue
			}
			n, ok := row.Noise[metric]
			if !ok {
				n, ok = row.Noise[""]
			}
			if ok {
				n.Case, n.Metric, n.From = key, metric, "reference "+r.Name
				out = append(out, n)
			}
			break
		}
	}
	return out
}

// Uses are the names that the assertion depends on, each once, in order.
func (a *Assertion) Uses() Uses {
	var u Uses
	if a.where != nil {
		u.Knobs = a.where.Names()
	}
	a.each(func(t *term, _ bool) {
		switch {
		case t.op == knob:
			u.Knobs = append(u.Knobs, t.knob)
		case t.op == reference:
			u.Knobs = append(u.Knobs, a.names.Reference.columns()...)
		case t.op.Aggregates() && t.domain() == nil:
			u.Others = true
		case t.other != nil && t.other.sibling:
			u.Others = true
		case t.other != nil:
			u.Runs = append(u.Runs, t.other.name)
		}
		u.Baseline = u.Baseline || t.baseline
	})
	u.Knobs, u.Runs = distinct(u.Knobs), distinct(u.Runs)
	return u
}
