package expression

import (
	"maps"
	"slices"
	"strings"

	"weir/assertion"
	"weir/dsl/suggest"
	"weir/workload"
)

// otherRun reads run("x").metric or run("x", condition).metric, of which the
// first token is at an index, and masks it. It gives the index after it.
func (s *side) otherRun(tokens []token, i int) (int, *Error) {
	t := tokens[i]
	if q := s.parser.quantifier; q != "" {
		return 0, errorf(t.from, t.to, "write the relation as an assertion of its own", "each case is judged by itself in %s, without other runs", q)
	}
	const form = `write run("NAME").METRIC`
	if i+2 >= len(tokens) || tokens[i+2].kind != stringToken {
		at := tokens[min(i+2, len(tokens)-1)]
		return 0, errorf(at.from, at.to, form, "the name of a run in quotes is missing after run(")
	}
	quoted := tokens[i+2]
	closing := find(tokens[i+1:], 1, isSymbol(")"))
	if closing < 0 {
		return 0, errorf(t.from, quoted.to, "close it with )", "the parenthesis after run is not closed")
	}
	closing += i + 1
	other, err := s.parser.run(quoted)
	if err != nil {
		return 0, err
	}
	if other.where, err = s.parser.choice(other, tokens[i+3:closing], tokens[closing]); err != nil {
		return 0, err
	}
	if !followedBy(tokens, closing, ".") || closing+2 >= len(tokens) || tokens[closing+2].kind != nameToken {
		return 0, errorf(t.from, tokens[closing].to, form, "no metric follows run(%s)", quoted.text)
	}
	name := tokens[closing+2]
	m, ok := other.names.metric(name.text)
	if !ok {
		return 0, other.names.unknownMetric(name)
	}
	if s.runs == nil {
		s.runs = map[int]*term{}
	}
	s.runs[t.from] = &term{op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), other: other, from: t.from, to: name.to}
	s.mask(t.from, name.to, 'q')
	return closing + 3, nil
}

func isSymbol(symbol string) func(token) bool {
	return func(t token) bool { return t.kind == symbolToken && t.text == symbol }
}

// run finds the run of a name in quotes.
func (p *sideParser) run(quoted token) (*otherRun, *Error) {
	name := quoted.text[1 : len(quoted.text)-1]
	if name == p.names.Run && name != "" {
		return nil, errorf(quoted.from, quoted.to, "for the own case name the metric itself, for all cases an aggregate, as max(bandwidth)", "%q is the run that the assertion stands in", name)
	}
	names, ok := p.names.Runs[name]
	if !ok || names == nil || names.Kind == nil {
		var known []string
		for _, n := range slices.Sorted(maps.Keys(p.names.Runs)) {
			if n != p.names.Run {
				known = append(known, n)
			}
		}
		return nil, errorf(quoted.from, quoted.to, lowerFirst(suggest.Sentence(name, known, "other runs")), "there is no run %q", name)
	}
	return &otherRun{name: name, names: names}, nil
}

// choice compiles the condition of run("x", condition), with the names of x.
func (p *sideParser) choice(other *otherRun, tokens []token, closing token) (*Condition, *Error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	if !isSymbol(",")(tokens[0]) {
		return nil, errorf(tokens[0].from, tokens[0].to, `write run("NAME", CONDITION).METRIC`, "%q is not expected after the name of a run", tokens[0].text)
	}
	if len(tokens) == 1 {
		return nil, errorf(tokens[0].from, closing.to, `write a condition over the options and axes of the run, as block_size == 64MiB`, "a condition is missing after the comma")
	}
	return conditionFrom(p.runes, tokens[1:], other.names, false)
}

// name resolves a metric, an option, an axis or a literal.
func (p *sideParser) name(t token) (*term, *Error) {
	if t.kind == quantityToken {
		q := t.quantity
		return &term{op: assertion.Const, value: q.Value, dim: q.Dim, bare: q.Unit == "", percent: q.Unit == "%", literal: t.text, from: t.from, to: t.to}, nil
	}
	if m, ok := p.names.metric(t.text); ok {
		return &term{op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), from: t.from, to: t.to}, nil
	}
	if dim, ok := p.names.dimension(t.text); ok {
		return &term{op: knob, knob: t.text, dim: dim, from: t.from, to: t.to}, nil
	}
	_, option := p.names.Kind.Option(t.text)
	if _, axis := p.names.axis(t.text); option || axis {
		return nil, errorf(t.from, t.to, "to choose cases by it write `where "+t.text+` == "…"`+"`", "%q is not a number", t.text)
	}
	switch root, field, _ := strings.Cut(t.text, "."); root {
	case "reference":
		return p.reference(t, field)
	case "baseline":
		return p.baseline(t, field)
	case "run":
		return nil, errorf(t.from, t.to, `write run("NAME").METRIC`, "the name of a run is missing")
	}
	return nil, p.names.unknownMetric(t)
}

// columnOf checks the metric of reference.METRIC and baseline.METRIC.
func (p *sideParser) columnOf(t token, field string) (workload.Metric, *Error) {
	if field == "" {
		return workload.Metric{}, errorf(t.from, t.to, "write "+t.text+".METRIC", "%q is no value by itself", t.text)
	}
	m, ok := p.names.metric(field)
	if !ok {
		return m, p.names.unknownMetric(token{kind: nameToken, text: field, from: t.to - len([]rune(field)), to: t.to})
	}
	return m, nil
}

func (p *sideParser) reference(t token, field string) (*term, *Error) {
	m, err := p.columnOf(t, field)
	if err != nil {
		return nil, err
	}
	table := p.names.Reference
	if table == nil {
		return nil, errorf(t.from, t.to, "add a table of this run to `references`", "the scenario has no reference values for run %q", p.names.Run)
	}
	columns := map[string]bool{}
	for _, row := range table.Rows {
		for name := range row.Values {
			columns[name] = true
		}
	}
	if !columns[m.Name] {
		hint := lowerFirst(suggest.Sentence(m.Name, slices.Sorted(maps.Keys(columns)), "metrics in it"))
		return nil, errorf(t.from, t.to, hint, "no row of reference %s has %s", quoted(table.Name), m.Name)
	}
	return &term{op: reference, metric: m.Name, unit: m.Unit, dim: m.Dim(), from: t.from, to: t.to}, nil
}

func (p *sideParser) baseline(t token, field string) (*term, *Error) {
	m, err := p.columnOf(t, field)
	if err != nil {
		return nil, err
	}
	return &term{op: assertion.Metric, metric: m.Name, unit: m.Unit, dim: m.Dim(), baseline: true, from: t.from, to: t.to}, nil
}

func quoted(s string) string { return `"` + s + `"` }
