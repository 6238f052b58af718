package expression

import (
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// otherRun reads run("x").metric or run("x", condition).metric after the word run.
func (p *assertionParser) otherRun(t token) (*term, *Error) {
	if q := p.quantifier; q != "" {
		return nil, t.errorf("write the relation as a separate assertion",
			"other runs cannot be used in %s, which judges each case separately", q)
	}
	const form = `write run("NAME").METRIC`
	closing := p.closing(p.at)
	p.next()
	quoted := p.next()
	if quoted.kind != stringToken {
		at := p.last()
		return nil, at.errorf(form, "the name of a run in quotes is missing after run(")
	}
	if closing < 0 {
		return nil, errorf(t.from, quoted.to, "close it with )", "the parenthesis after run is not closed")
	}
	other, err := p.run(quoted)
	if err != nil {
		return nil, err
	}
	end := p.tokens[closing]
	if other.where, err = p.choice(other, p.tokens[p.at:closing], end); err != nil {
		return nil, err
	}
	p.at = closing + 1
	if !p.take(".") || p.peek().kind != nameToken {
		return nil, errorf(t.from, end.to, form, "no metric follows run(%s)", quoted.text)
	}
	name := p.next()
	m, ok := other.names.metric(name.text)
	if !ok {
		return nil, other.names.unknownMetric(name)
	}
	return &term{
		op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), other: other,
		from: t.from, to: name.to,
	}, nil
}

// run finds the run of a name in quotes.
func (p *assertionParser) run(quoted token) (*otherRun, *Error) {
	name := quoted.text[1 : len(quoted.text)-1]
	if name == p.names.Run && name != "" {
		return nil, quoted.errorf("for the case itself write the metric, for all cases an aggregate, as max(bandwidth)",
			"%q is the run of this assertion", name)
	}
	names, ok := p.names.Runs[name]
	if !ok || names == nil || names.Kind == nil {
		var known []string
		for _, n := range slices.Sorted(maps.Keys(p.names.Runs)) {
			if n != p.names.Run {
				known = append(known, n)
			}
		}
		return nil, quoted.errorf(lowerFirst(suggest.Sentence(name, known, "other runs")), "there is no run %q", name)
	}
	return &otherRun{name: name, names: names}, nil
}

// choice compiles the condition of run("x", condition), with the names of x.
func (p *assertionParser) choice(other *otherRun, tokens []token, closing token) (*Condition, *Error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	if !tokens[0].is(",") {
		return nil, errorf(tokens[0].from, tokens[0].to, `write run("NAME", CONDITION).METRIC`,
			"unexpected %q after the name of a run", tokens[0].text)
	}
	if len(tokens) == 1 {
		return nil, errorf(tokens[0].from, closing.to,
			`write a condition over the options and axes of the run, as block_size == 64MiB`,
			"a condition is missing after the comma")
	}
	return conditionFrom(p.runes, tokens[1:], other.names, false)
}

// name resolves a metric, an option or an axis.
func (p *assertionParser) name(t token) (*term, *Error) {
	if m, ok := p.names.metric(t.text); ok {
		return &term{op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), from: t.from, to: t.to}, nil
	}
	if dim, ok := p.names.dimension(t.text); ok {
		return &term{op: knob, knob: t.text, dim: dim, from: t.from, to: t.to}, nil
	}
	_, option := p.names.Kind.Option(t.text)
	if _, axis := p.names.axis(t.text); option || axis {
		return nil, t.errorf("to select cases by it write `where "+t.text+` == "…"`+"`", "%q is not a number", t.text)
	}
	switch root, field, _ := strings.Cut(t.text, "."); root {
	case "reference":
		return p.reference(t, field)
	case "baseline":
		return p.baseline(t, field)
	case "run":
		return nil, t.errorf(`write run("NAME").METRIC`, "the name of a run is missing")
	}
	return nil, p.names.unknownMetric(t)
}

// columnOf checks the metric of reference.METRIC and baseline.METRIC.
func (p *assertionParser) columnOf(t token, field string) (workload.Metric, *Error) {
	if field == "" {
		return workload.Metric{}, t.errorf("write "+t.text+".METRIC", "%q is not a value", t.text)
	}
	m, ok := p.names.metric(field)
	if !ok {
		return m, p.names.unknownMetric(token{kind: nameToken, text: field, from: t.to - len([]rune(field)), to: t.to})
	}
	return m, nil
}

func (p *assertionParser) reference(t token, field string) (*term, *Error) {
	m, err := p.columnOf(t, field)
	if err != nil {
		return nil, err
	}
	table := p.names.Reference
	if table == nil {
		return nil, t.errorf("add a table of this run to `references`",
			"the scenario has no reference values for run %q", p.names.Run)
	}
	columns := map[string]bool{}
	for _, row := range table.Rows {
		for name := range row.Values {
			columns[name] = true
		}
	}
	if !columns[m.Name] {
		hint := lowerFirst(suggest.Sentence(m.Name, slices.Sorted(maps.Keys(columns)), "metrics in it"))
		return nil, t.errorf(hint, "no row of reference %s has %s", quoted(table.Name), m.Name)
	}
	return &term{op: reference, metric: m.Name, unit: m.Unit, dim: m.Dim(), from: t.from, to: t.to}, nil
}

func (p *assertionParser) baseline(t token, field string) (*term, *Error) {
	m, err := p.columnOf(t, field)
	if err != nil {
		return nil, err
	}
	return &term{op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), baseline: true, from: t.from,
		to: t.to}, nil
}

func quoted(s string) string { return `"` + s + `"` }
