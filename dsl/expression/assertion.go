package expression

import (
	"slices"

	"github.com/weir-bench/weir/results/assertion"
)

// Assertion is a compiled assertion: a relation between a measured side and its target, several
// relations in all or any, or a statement about transports or a provider.
type Assertion struct {
	text       string
	names      *Names
	where      *Condition // nil: every case
	quantifier string     // all | any; "": there is one relation
	relations  []*relation
	transport  *assertion.Transport // a statement about transports, without a relation
	provider   *assertion.Provider  // a statement about a fact of a provider, without a relation
	from, to   int                  // its span, without where
	gains      bool                 // it compares variants with their baseline

	grouping Grouping
	over     []string
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
			return nil, t.errorf("write a condition, as block_size == 64MiB", "the condition after where is missing")
		}
		if a.where, err = conditionFrom(r, condition, n, false); err != nil {
			return nil, err
		}
	}
	if a.gains = p.gains; a.gains {
		if err := a.excludeBaseline(); err != nil {
			return nil, err
		}
	}
	a.grouping, a.over = a.groupingOf()
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
	if err := r.checkShareMetric(); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.sides(), (*term).own) {
		return errorf(from, p.last().to, "write the assertion in that run, where the metric needs no run(…)",
			"the assertion has no metric of this run")
	}
	if err := r.checkBaselines(); err != nil {
		return err
	}
	if p.quantifier != "" && r.axis != "" {
		return errorf(from, p.last().to, "write the trend as a separate assertion",
			"a trend cannot be used in %s", p.quantifier)
	}
	a.relations = append(a.relations, r)
	return nil
}

func isQuantifier(t token) bool {
	return t.kind == nameToken && (t.text == "all" || t.text == "any")
}

// quantified reads all(RELATION, …), which must be the whole assertion.
func (a *Assertion) quantified(p *assertionParser) *Error {
	q, closing := p.next(), p.closing(1)
	p.quantifier, a.quantifier = q.text, q.text
	if closing < 0 {
		return errorf(q.from, a.to, "close it with )", "the parenthesis after %s is not closed", q.text)
	}
	if closing < len(p.tokens)-1 {
		t := p.tokens[closing+1]
		return t.errorf("write "+q.text+"(RELATION, …) as the whole assertion, followed by at most `where CONDITION`",
			"%s must be the whole assertion, but %q follows", q.text, t.text)
	}
	if at := p.aboutTransport(); at >= 0 {
		t := p.tokens[at]
		return t.errorf("write it as a separate assertion", "transports cannot be used in %s", q.text)
	}
	if at := p.aboutProvider(); at >= 0 {
		t := p.tokens[at]
		return t.errorf("write it as a separate assertion", "facts of providers cannot be used in %s", q.text)
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

// Text returns the assertion as it was written.
func (a *Assertion) Text() string { return a.text }

// Gains reports whether the assertion is about gains of variants. Baseline variants have none.
func (a *Assertion) Gains() bool { return a.gains }

// Where returns the condition that selects cases; nil selects all.
func (a *Assertion) Where() *Condition { return a.where }

// TrendAxis returns the axis of a trend, "" for any other assertion.
func (a *Assertion) TrendAxis() string {
	if a.Stated() {
		return ""
	}
	return a.relations[0].axis
}

// Stated reports whether the assertion is a statement about transports or a provider: it has no
// number, so nothing is estimated.
func (a *Assertion) Stated() bool { return a.transport != nil || a.provider != nil }

// Grouping tells whether the assertion is judged for each case, along an axis, or over several cases.
func (a *Assertion) Grouping() Grouping { return a.grouping }

// OverAxes returns the axes in which the cases of one lowered assertion differ if Grouping is OverCases;
// none: all axes.
func (a *Assertion) OverAxes() []string { return slices.Clone(a.over) }

// Parts returns the number of relations.
func (a *Assertion) Parts() int { return len(a.relations) }

// groupingOf finds how cases are grouped. A metric of the run outside of aggregates belongs to one case.
// Otherwise the cases of one assertion differ in the axes that all aggregates have in common; if
// there are none, each case is judged by itself.
func (a *Assertion) groupingOf() (Grouping, []string) {
	if a.Stated() {
		return PerCase, nil
	}
	if a.TrendAxis() != "" {
		return AlongAxis, nil
	}
	if a.quantifier != "" {
		return OverCases, nil
	}
	grouping := OverCases
	var common []string
	named := false
	a.each(func(t *term, aggregated bool) {
		switch {
		case t.op == assertion.Metric && t.other == nil && !aggregated:
			grouping = PerCase
		case t.op.Aggregates() && t.domain() == nil && len(t.over) > 0:
			if !named {
				common, named = slices.Clone(t.over), true
			}
			common = slices.DeleteFunc(common, func(axis string) bool { return !slices.Contains(t.over, axis) })
		}
	})
	if grouping == PerCase || named && len(common) == 0 {
		return PerCase, nil
	}
	return OverCases, common
}

func (a *Assertion) each(visit func(t *term, aggregated bool)) {
	for _, r := range a.relations {
		for _, side := range r.sides() {
			side.each(visit)
		}
	}
}

// referenceUsed returns the environment of the reference table that the assertion uses; nil if it uses
// none, or if the table has no environment.
func (a *Assertion) referenceUsed() *assertion.Reference {
	var out *assertion.Reference
	a.each(func(t *term, _ bool) {
		if r := a.names.Reference; t.op == reference && r.Environment != "" {
			out = &assertion.Reference{Table: r.Name, Environment: r.Environment}
		}
	})
	return out
}

// noiseOf returns the noise in the run's table for the metrics of a subject in a case.
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

// Uses returns the names that the assertion depends on, without duplicates, in order.
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
