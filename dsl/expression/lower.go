package expression

import (
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// Lower returns an assertion of grouping PerCase or AlongAxis for one case: options, axes and reference
// values are numbers, other cases have keys, and the result is a subject over metrics with a
// numeric band. The caller sets name, place, severity and the cases of a trend.
func (a *Assertion) Lower(s Scope) (assertion.Assertion, *Error) {
	out := assertion.Assertion{Text: a.text, Reference: a.referenceUsed()}
	if a.grouping == OverCases {
		return out, a.errorf("", "the assertion is about several cases, not one")
	}
	if t := a.transport; t != nil {
		out.Transport = &assertion.Transport{Of: t.Of, Names: slices.Clone(t.Names), Prefix: t.Prefix}
		out.Lowered = t.String()
		return out, nil
	}
	if p := a.provider; p != nil {
		out.Provider = &assertion.Provider{Fact: p.Fact, Not: p.Not, Values: slices.Clone(p.Values)}
		out.Lowered = p.String()
		return out, nil
	}
	l := &lowering{assertion: a, cases: s.Cases, ownKey: s.Key}
	b, err := l.relation(a.relations[0], view{one: &s, at: s.Texts})
	if err != nil {
		return out, err
	}
	out.Subject, out.Unit, out.Written, out.Bounds, out.Target = b.subject, b.unit, b.written, b.bounds, b.target
	out.Compared = b.compared
	if a.relations[0].axis == "" {
		out.Noise = a.noiseOf(out.Subject, s, "")
	}
	if r := a.relations[0]; r.axis != "" {
		out.Trend = &assertion.Trend{Axis: r.axis, Direction: r.word, Tolerance: quantity.Round(r.share)}
		out.Lowered = trendText(out.Subject, out.Trend)
		return out, nil
	}
	out.Lowered = b.String()
	return out, nil
}

// LowerOver returns an assertion of grouping OverCases for cases of its run: those that satisfy where and
// agree on every axis that is not among OverAxes. Every metric has the key of its case. Cases are
// the given ones in their order, then others of the run, then those of other runs.
func (a *Assertion) LowerOver(cases []Scope) (assertion.Assertion, *Error) {
	out := assertion.Assertion{Text: a.text, Reference: a.referenceUsed()}
	if a.grouping != OverCases {
		return out, a.errorf("", "the assertion is about single cases, not several")
	}
	if len(cases) == 0 {
		return out, a.errorf("", "the assertion has no cases")
	}
	l := &lowering{assertion: a, cases: cases[0].Cases, keyed: true}
	for _, c := range cases {
		l.own.add(c.Key)
	}
	if a.quantifier != "" {
		if err := l.quantified(&out, cases); err != nil {
			return out, err
		}
	} else {
		b, err := l.relation(a.relations[0], view{group: cases, at: a.fixed(cases[0].Texts)})
		if err != nil {
			return out, err
		}
		out.Subject, out.Unit, out.Written, out.Bounds, out.Target = b.subject, b.unit, b.written, b.bounds, b.target
		out.Compared, out.Lowered = b.compared, b.String()
	}
	out.Cases = slices.Concat(l.own.keys, l.others.keys)
	out.Noise = a.noiseOver(&out, cases)
	return out, nil
}

// noiseOver returns the noise in the reference table for an assertion over several cases.
func (a *Assertion) noiseOver(out *assertion.Assertion, cases []Scope) []assertion.Noise {
	var all []assertion.Noise
	parts := map[string]*assertion.Expr{}
	for _, p := range out.Parts {
		parts[p.Case] = p.Subject
	}
	for _, c := range cases {
		subject := out.Subject
		if subject == nil {
			subject = parts[c.Key]
		}
		all = append(all, a.noiseOf(subject, c, c.Key)...)
	}
	return all
}

// fixed returns the axes, with their values, that all cases of the assertion share.
func (a *Assertion) fixed(texts map[string]string) map[string]string {
	if len(a.over) == 0 {
		return nil
	}
	return without(texts, a.over)
}

func (l *lowering) quantified(out *assertion.Assertion, cases []Scope) *Error {
	out.Quantifier = l.assertion.quantifier
	texts := make([]string, len(l.assertion.relations))
	alike := true
	for _, c := range cases {
		for i, r := range l.assertion.relations {
			b, err := l.relation(r, view{one: &c, at: c.Texts})
			if err != nil {
				return err
			}
			out.Parts = append(out.Parts, assertion.Part{
				Subject: b.subject, Unit: b.unit, Written: b.written, Bounds: b.bounds, Target: b.target, Case: c.Key,
				Compared: b.compared,
			})
			text := b.ofOwnCase(c.Key).String()
			alike = alike && (texts[i] == "" || texts[i] == text)
			texts[i] = text
		}
	}
	out.Lowered = quantifiedText(out, texts, alike, len(cases))
	return nil
}

// orderedKeys are distinct keys in order of insertion.
type orderedKeys struct {
	keys []string
	seen map[string]bool
}

func (o *orderedKeys) add(key string) {
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	if !o.seen[key] {
		o.seen[key] = true
		o.keys = append(o.keys, key)
	}
}
