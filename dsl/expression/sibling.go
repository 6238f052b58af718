package expression

import (
	"slices"

	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// sibling reads at(CONDITION).METRIC after the word at: the metric of the case of the same run that
// satisfies the condition and has the same values of all axes that the condition does not name.
func (p *assertionParser) sibling(t token) (*term, *Error) {
	if q := p.quantifier; q != "" {
		return nil, t.errorf("write the relation as a separate assertion",
			"other cases cannot be used in %s, which judges each case separately", q)
	}
	const form = "write at(CONDITION).METRIC"
	closing := p.closing(p.at)
	switch {
	case closing < 0:
		return nil, t.errorf("close it with )", "the parenthesis after at is not closed")
	case closing == p.at+1:
		return nil, errorf(t.from, p.tokens[closing].to,
			`write a condition over axes of the run, as at(variant == "stock")`,
			"a condition is missing in at()")
	}
	where, err := conditionFrom(p.runes, p.tokens[p.at+1:closing], p.names, false)
	if err != nil {
		return nil, err
	}
	end := p.tokens[closing]
	if !slices.ContainsFunc(where.Names(), func(name string) bool { _, ok := p.names.axis(name); return ok }) {
		return nil, errorf(t.from, end.to, "add an axis of the run to the condition",
			"the condition has no axis, so it does not select another case")
	}
	p.at = closing + 1
	if !p.take(".") || p.peek().kind != nameToken {
		return nil, errorf(t.from, end.to, form, "no metric follows at()")
	}
	name := p.next()
	m, ok := p.names.metric(name.text)
	if !ok {
		return nil, p.names.unknownMetric(name)
	}
	return p.metricAt(m, where, t.from, name.to), nil
}

func (p *assertionParser) metricAt(m workload.Metric, where *Condition, from, to int) *term {
	return &term{
		op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), from: from, to: to,
		other: &otherRun{name: p.names.Run, names: p.names, where: where, sibling: true},
	}
}

// gain reads gain(METRIC) after the word gain: how much better the metric m is than b of the
// baseline variant, m/b - 1 if higher is better, 1 - m/b if lower is.
func (p *assertionParser) gain(t token) (*term, *Error) {
	p.next()
	name := p.next()
	if name.kind != nameToken || !p.take(")") {
		return nil, t.errorf("write gain(METRIC)", "gain takes one metric")
	}
	end := p.last().to
	m, ok := p.names.metric(name.text)
	_, swept := p.names.axis(VariantAxis)
	switch {
	case !ok:
		return nil, p.names.unknownMetric(name)
	case p.quantifier != "":
		return nil, t.errorf("write the relation as a separate assertion",
			"other cases cannot be used in %s, which judges each case separately", p.quantifier)
	case p.names.Baseline == "":
		return nil, t.errorf("name one: variants: {baseline: NAME, …}", "the scenario has no variants with a baseline")
	case !swept:
		return nil, t.errorf("sweep it, or compare runs: run(\"NAME\").METRIC", "the run has no axis %s", VariantAxis)
	case m.Better == workload.Neither:
		return nil, name.errorf("compare it with at(CONDITION).METRIC", "%s has no better direction", m.Name)
	}
	where, err := compileCondition(VariantAxis+" == "+p.names.literal(VariantAxis, p.names.Baseline), p.names, false)
	if err != nil {
		return nil, err
	}
	p.gains = true
	own := &term{op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), from: name.from, to: name.to}
	one := &term{op: assertion.Const, value: 1, bare: true, from: t.from, to: end}
	quotient, err := binary(token{text: "/"}, own, p.metricAt(m, where, t.from, end), t.from, end)
	if err != nil {
		return nil, err
	}
	if m.Better == workload.Lower {
		return binary(token{text: "-"}, one, quotient, t.from, end)
	}
	return binary(token{text: "-"}, quotient, one, t.from, end)
}

// excludeBaseline excludes the baseline variant, which has no gain over itself.
func (a *Assertion) excludeBaseline() *Error {
	text := VariantAxis + " != " + a.names.literal(VariantAxis, a.names.Baseline)
	if a.where != nil {
		text = "(" + a.where.text + ") && " + text
	}
	var err *Error
	a.where, err = compileCondition(text, a.names, false)
	return err
}

// VariantAxis is the axis with the variants of a scenario.
const VariantAxis = workload.VariantAxis
