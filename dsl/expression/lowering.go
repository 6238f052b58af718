package expression

import (
	"math"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results/assertion"
)

// maxLeaves bounds one lowered assertion: an aggregate over many cases, repeated in each of many
// cases, would fill gigabytes.
const maxLeaves = 10_000

// lowering is the state of lowering one assertion.
type lowering struct {
	assertion   *Assertion
	cases       Cases
	keyed       bool   // metrics of the run have the key of their case
	ownKey      string // the case of which metrics have no key
	leaves      int
	own, others orderedKeys // cases used, if keyed
}

// view is the context in which a term is evaluated.
type view struct {
	one   *Scope            // the case itself; nil if the term is about a group
	group []Scope           // the cases of an assertion over several
	at    map[string]string // the known part of the point: texts by axis
	bound string            // the case of another run in the current step of an aggregate
}

// expr inserts the values of a view and folds constants.
func (l *lowering) expr(t *term, v view) (*assertion.Expr, *Error) {
	switch {
	case t.op == assertion.Const:
		return &assertion.Expr{Op: assertion.Const, Value: t.value}, nil
	case t.op == assertion.Metric:
		return l.metric(t, v)
	case t.op == knob || t.op == reference:
		value, err := l.known(t, v)
		return &assertion.Expr{Op: assertion.Const, Value: value}, err
	case t.op.Aggregates():
		return l.aggregate(t, v)
	}
	a, err := l.expr(t.args[0], v)
	if err != nil {
		return nil, err
	}
	b, err := l.expr(t.args[1], v)
	if err != nil {
		return nil, err
	}
	if t.op == assertion.Div && b.Op == assertion.Const && b.Value == 0 {
		return nil, errorf(t.args[1].from, t.args[1].to, "", "division by zero")
	}
	switch {
	case a.Op == assertion.Const && b.Op == assertion.Const:
		v := compute(t.op, a.Value, b.Value)
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, t.errorf("", "the value is not finite")
		}
		return &assertion.Expr{Op: assertion.Const, Value: v}, nil
	case (t.op == assertion.Mul || t.op == assertion.Div) && b.Op == assertion.Const && b.Value == 1:
		return a, nil
	case t.op == assertion.Mul && a.Op == assertion.Const && a.Value == 1:
		return b, nil
	}
	return &assertion.Expr{Op: t.op, Args: []*assertion.Expr{a, b}}, nil
}

func (l *lowering) metric(t *term, v view) (*assertion.Expr, *Error) {
	if l.leaves++; l.leaves > maxLeaves {
		return nil, l.assertion.errorf("aggregate over fewer cases, with `over AXIS` or where",
			"the assertion would compare more than %d values", maxLeaves)
	}
	leaf := &assertion.Expr{Op: assertion.Metric, Metric: t.metric, Unit: t.unit, Baseline: t.baseline}
	switch {
	case t.other != nil:
		leaf.Case = v.bound
		if v.bound == "" {
			key, err := l.single(t, v.at)
			if err != nil {
				return nil, err
			}
			leaf.Case = key
		}
		l.others.add(leaf.Case)
	case v.one == nil:
		return nil, t.errorf("put it into an aggregate", "%s is ambiguous: the assertion has several cases", t.metric)
	case l.keyed || t.baseline || v.one.Key != l.ownKey:
		leaf.Case = v.one.Key
		l.own.add(leaf.Case)
	}
	return leaf, nil
}

// aggregate lists the operands: the term at each case of the aggregate.
func (l *lowering) aggregate(t *term, v view) (*assertion.Expr, *Error) {
	views, err := l.over(t, v)
	if err != nil {
		return nil, err
	}
	if len(views) == 0 {
		return nil, t.errorf("", "the aggregate %s goes over no case", t.op)
	}
	out := &assertion.Expr{Op: t.op}
	for _, at := range views {
		arg, err := l.expr(t.args[0], at)
		if err != nil {
			return nil, err
		}
		out.Args = append(out.Args, arg)
	}
	return out, nil
}

// known returns an option, axis or reference value. All cases of a group must have the same.
func (l *lowering) known(t *term, v view) (float64, *Error) {
	if v.one != nil {
		return l.knownOf(t, *v.one)
	}
	first, err := l.knownOf(t, v.group[0])
	if err != nil {
		return 0, err
	}
	for _, s := range v.group[1:] {
		value, err := l.knownOf(t, s)
		if err != nil {
			return 0, err
		}
		if value != first {
			return 0, t.errorf("use it inside of the aggregate, or aggregate over axes on which it does not depend",
				"%q is not the same in all cases: %s and %s differ", t.name(), v.group[0].Key, s.Key)
		}
	}
	return first, nil
}

func (l *lowering) knownOf(t *term, s Scope) (float64, *Error) {
	if t.op == reference {
		return l.assertion.names.Reference.value(t, s)
	}
	v, ok := s.number(t.knob)
	if !ok {
		value, _ := s.knob(t.knob)
		if err := known(t.knob, value); err != nil {
			return 0, t.errorf("compare with the metric of the run itself", "%v", err)
		}
		return 0, t.errorf("", "the case has no number %s", t.knob)
	}
	return v, nil
}

// name returns the author's name of a value that is known at planning.
func (t *term) name() string {
	if t.op == reference {
		return "reference." + t.metric
	}
	return t.knob
}

// number returns the value of an option or axis in base units.
func (s Scope) number(name string) (float64, bool) {
	v, _ := s.knob(name)
	return option.Number(v)
}
