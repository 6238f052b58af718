package expression

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results/assertion"
)

// functions are the functions of assertions.
var functions = append(aggregateNames(), "ratio", "run", "at", "gain", "all", "any")

// Functions returns the names of the functions of assertions.
func Functions() []string { return slices.Clone(functions) }

func aggregateNames() []string {
	var names []string
	for _, a := range assertion.Aggregates() {
		names = append(names, string(a.Op))
	}
	return names
}

func unknownFunction(t token) *Error {
	hint := lowerFirst(suggest.Documented(t.text, functions, "functions", functionsListed))
	if s, ok := statistics[t.text]; ok {
		hint = "a statistic ends the name of a metric, as in latency." + s + "; " + hint
	}
	return t.errorf(hint+" Otherwise use + - * / and parentheses", "assertions have no function %s", t.text)
}

// call reads ratio(a, b) and the aggregates.
func (p *assertionParser) call(name token) (*term, *Error) {
	if err := p.checkCallable(name); err != nil {
		return nil, err
	}
	aggregates := assertion.Op(name.text).Aggregates()
	p.next()
	p.open++
	var args []*term
	var axes []token
	for more := !p.is(")"); more; more = p.take(",") {
		if aggregates && p.is("over") {
			t := p.next()
			return nil, t.errorf("write "+name.text+"(METRIC over AXIS)", "a term is missing before over")
		}
		arg, err := p.sum()
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	if aggregates && p.is("over") {
		var err *Error
		if axes, err = p.over(name); err != nil {
			return nil, err
		}
	}
	if err := p.close(name, "the parenthesis after "+name.text+" is not closed"); err != nil {
		return nil, err
	}
	if !aggregates {
		return ratio(name, p.last().to, args)
	}
	return p.aggregate(name, p.last().to, args, axes)
}

// checkCallable refuses names that are not functions, or not allowed in this place.
func (p *assertionParser) checkCallable(t token) *Error {
	switch {
	case t.text == "all" || t.text == "any":
		return t.errorf("write "+t.text+"(RELATION, …) as the whole assertion, followed by at most `where CONDITION`",
			"%s must be the whole assertion, not a part of a relation", t.text)
	case t.text == "ratio":
	case !assertion.Op(t.text).Aggregates():
		return unknownFunction(t)
	case p.quantifier != "":
		return t.errorf("write the relation as a separate assertion",
			"aggregates cannot be used in %s, which judges each case separately", p.quantifier)
	}
	return nil
}

// over reads the axes at the end of an aggregate.
func (p *assertionParser) over(call token) ([]token, *Error) {
	p.next()
	var axes []token
	for {
		if p.ended() || p.is(")") {
			t := p.last()
			return nil, t.errorf("name an axis", "an axis is missing after %s", t.text)
		}
		t := p.next()
		if t.kind == nameToken {
			axes = append(axes, t)
			t = p.peek()
			if p.ended() || p.is(")") {
				return axes, nil
			}
			if p.take(",") {
				continue
			}
		}
		return nil, t.errorf("write "+call.text+"(TERM over A, B)", "unexpected %q in a list of axes", t.text)
	}
}

func ratio(name token, end int, args []*term) (*term, *Error) {
	if len(args) != 2 {
		return nil, errorf(name.from, end, "write ratio(a, b), which is a / b",
			"ratio takes two values, not %d", len(args))
	}
	a, b := args[0], args[1]
	if a.dim != b.dim {
		hint := "for the quotient of different dimensions write a / b"
		if a.bare || b.bare {
			hint = "give the number a unit"
		}
		return nil, errorf(name.from, end, hint, "a %s and a %s have no ratio", a.dim, b.dim)
	}
	return binary(token{text: "/"}, a, b, name.from, end)
}

func (p *assertionParser) aggregate(name token, end int, args []*term, axes []token) (*term, *Error) {
	if len(args) != 1 {
		return nil, errorf(name.from, end, "write "+name.text+"(TERM) or "+name.text+"(TERM over AXIS, …)",
			"%s takes one term, evaluated for each case, not %d", name.text, len(args))
	}
	arg := args[0]
	if err := checkAggregateOperand(name, arg); err != nil {
		return nil, err
	}
	t := &term{op: assertion.Op(name.text), args: args, height: 1 + arg.height, dim: arg.dim, from: name.from, to: end}
	over, err := p.overAxes(axes, arg.domain())
	t.over = over
	return t, err
}

// checkAggregateOperand checks the operand of an aggregate.
func checkAggregateOperand(name token, arg *term) *Error {
	var inner, knobs *term
	var others []*term
	own := false
	arg.each(func(t *term, _ bool) {
		switch {
		case t.op.Aggregates():
			inner = t
		case t.op == knob || t.op == reference:
			knobs = t
		case t.op == assertion.Metric && t.other == nil:
			own = true
		case t.op == assertion.Metric:
			others = append(others, t)
		}
	})
	switch {
	case inner != nil:
		return inner.errorf("name all axes in one aggregate, as "+name.text+
			"(TERM over A, B)",
			"the aggregate %s is inside of %s", inner.op, name.text)
	case !own && len(others) == 0:
		return arg.errorf("name a metric in it", "%s has no metric", name.text)
	case own:
		return nil
	case knobs != nil:
		return knobs.errorf("move it out of the aggregate",
			"the aggregate is over cases of run %q, but this option or axis is of the assertion's run",
			others[0].other.name)
	}
	for _, o := range others[1:] {
		if !o.other.same(others[0].other) {
			return o.errorf("write one aggregate for each",
				"the aggregate %s has metrics of several runs", name.text)
		}
	}
	return nil
}

// overAxes checks the axes after `over`.
func (p *assertionParser) overAxes(axes []token, domain *otherRun) ([]string, *Error) {
	names := p.names
	if domain != nil {
		names = domain.names
	}
	if len(axes) == 1 && axes[0].text == "cases" {
		if _, ok := names.axis("cases"); !ok {
			return nil, nil
		}
	}
	var over []string
	for _, t := range axes {
		if _, ok := names.axis(t.text); !ok {
			return nil, names.lacksAxis(t, domain)
		}
		for _, before := range over {
			if before == t.text {
				return nil, t.errorf("remove one", "axis %s is given twice after over", t.text)
			}
		}
		over = append(over, t.text)
	}
	return over, nil
}

func (n *Names) lacksAxis(t token, domain *otherRun) *Error {
	if domain == nil {
		return n.unknownAxis(t)
	}
	known := n.axisNames()
	if len(known) == 0 {
		return t.errorf("omit over to aggregate over all its cases", "the run %q has no axes", domain.name)
	}
	return t.errorf(lowerFirst(suggest.Sentence(t.text, known, "axes of that run")),
		"the run %q has no axis %q", domain.name, t.text)
}

func (n *Names) unknownAxis(t token) *Error {
	known := n.axisNames()
	if len(known) == 0 {
		return t.errorf("give the run a sweep over "+t.text, "the run has no axes")
	}
	hint := "its axes are " + strings.Join(known, ", ")
	if near := suggest.Nearest(t.text, known); near != "" {
		hint = "did you mean " + near + "? Its axes are " + strings.Join(known, ", ")
	}
	return t.errorf(hint, "the run has no axis %q", t.text)
}

func (n *Names) axisNames() []string {
	var known []string
	for _, a := range n.Axes {
		known = append(known, a.Name)
	}
	return known
}
