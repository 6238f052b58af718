package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"weir/assertion"
	"weir/dsl/suggest"
)

// functions are what may stand before a parenthesis in an assertion.
var functions = []string{"min", "max", "mean", "geomean", "median", "ratio", "run", "all", "any"}

// Functions are the words that may stand before a parenthesis in an assertion.
func Functions() []string { return slices.Clone(functions) }

func unknownFunction(t token) *Error {
	return errorf(t.from, t.to, lowerFirst(suggest.Sentence(t.text, functions, "functions"))+" Otherwise use + - * / and parentheses", "assertions have no function %s", t.text)
}

// call checks ratio(a, b) and the aggregates.
func (s *side) call(at int, nodes []ast.Node) (*term, *Error) {
	name := s.tokens[at]
	end := s.ends[at]
	var args []*term
	for _, n := range nodes {
		t, err := s.term(n)
		if err != nil {
			return nil, err
		}
		args = append(args, t)
	}
	if name.text == "ratio" {
		return ratio(name, end, args)
	}
	return s.aggregate(name, end, args)
}

func ratio(name token, end int, args []*term) (*term, *Error) {
	if len(args) != 2 {
		return nil, errorf(name.from, end, "write ratio(a, b), which is a / b", "the function ratio takes two values, and this one has %d", len(args))
	}
	a, b := args[0], args[1]
	if a.dim != b.dim {
		hint := "for the quotient of different kinds write a / b"
		if a.bare || b.bare {
			hint = "give the number a unit"
		}
		return nil, errorf(name.from, end, hint, "a %s and a %s have no ratio", a.dim, b.dim)
	}
	t := &term{op: assertion.Div, args: args, from: name.from, to: end, bare: a.bare && b.bare}
	return t.folded()
}

func (s *side) aggregate(name token, end int, args []*term) (*term, *Error) {
	if len(args) != 1 {
		return nil, errorf(name.from, end, "write "+name.text+"(TERM) or "+name.text+"(TERM over AXIS, …)", "the aggregate %s takes one value, of each case, and this one has %d", name.text, len(args))
	}
	arg := args[0]
	if err := s.aggregated(name, arg); err != nil {
		return nil, err
	}
	t := &term{op: assertion.Op(name.text), args: args, dim: arg.dim, from: name.from, to: end}
	over, err := s.overAxes(name, arg.domain())
	t.over = over
	return t, err
}

// aggregated checks what stands in an aggregate.
func (s *side) aggregated(name token, arg *term) *Error {
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
		return errorf(inner.from, inner.to, "an aggregate goes over cases already: name all axes in one, as "+name.text+"(TERM over A, B)", "the aggregate %s stands inside of %s", inner.op, name.text)
	case !own && len(others) == 0:
		return errorf(arg.from, arg.to, "name a metric in it", "nothing that is measured stands in %s", name.text)
	case own:
		return nil
	case knobs != nil:
		return errorf(knobs.from, knobs.to, "take it out of the aggregate", "the cases here are those of run %q, and this is the own run's", others[0].other.name)
	}
	for _, o := range others[1:] {
		if !o.other.same(others[0].other) {
			return errorf(o.from, o.to, "write one aggregate for each", "the aggregate %s goes over the cases of one run, and here are several", name.text)
		}
	}
	return nil
}

// overAxes checks the axes after `over`.
func (s *side) overAxes(name token, domain *otherRun) ([]string, *Error) {
	axes := s.overs[name.from]
	names := s.parser.names
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
				return nil, errorf(t.from, t.to, "remove one", "axis %s stands twice after over", t.text)
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
		return errorf(t.from, t.to, "without over the aggregate goes over its cases", "the run %q has no axes", domain.name)
	}
	return errorf(t.from, t.to, lowerFirst(suggest.Sentence(t.text, known, "axes of that run")), "the run %q has no axis %q", domain.name, t.text)
}

func (n *Names) unknownAxis(t token) *Error {
	known := n.axisNames()
	if len(known) == 0 {
		return errorf(t.from, t.to, "give the run a sweep over "+t.text, "the run has no axes")
	}
	hint := "its axes are " + strings.Join(known, ", ")
	if near := suggest.Nearest(t.text, known); near != "" {
		hint = "did you mean " + near + "? Its axes are " + strings.Join(known, ", ")
	}
	return errorf(t.from, t.to, hint, "the run has no axis %q", t.text)
}

func (n *Names) axisNames() []string {
	var known []string
	for _, a := range n.Axes {
		known = append(known, a.Name)
	}
	return known
}
