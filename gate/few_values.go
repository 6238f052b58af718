package gate

import (
	"cmp"
	"fmt"
	"slices"

	"weir/assertion"
	"weir/results"
	"weir/workload"
)

// Few values make a high quantile look lower than it is, so they cannot excuse a miss. A claim about a quantile of
// too few values fails all the same
//
//   - where its own interval is beyond the bound, if it is bounded by order statistics (quantile.go), or if it is
//     above: what is estimated too low and lies above lies above;
//   - where a lower quantile of the same values, which has enough of them, is above the bound, or a higher one
//     below it: a quantile is not below a lower one.
//
// missedAnyway says which of these holds, "" if none does.
func (eval *evaluator) missedAnyway(cl claim, sources []*source, look int, where place) string {
	if len(sources) != 1 || sources[0].c == nil || !atLook(cl.looks, look) {
		return ""
	}
	leaf := lone(cl.subject)
	if leaf == nil {
		return ""
	}
	c := sources[0].c
	m, _ := cl.metrics.Metric(c, leaf.Metric)
	level, ok := m.Level()
	if !ok {
		return ""
	}
	if where == above || where == below && mergedOf(sources[0].launches, m.Family()) != nil {
		return "; few values are no excuse: it is beyond the bound all the same"
	}
	for _, other := range siblings(cl.metrics, c, m) {
		if few, _ := fewSamples(cl.metrics, sources[0], other.Name, look); few.why != "" {
			continue
		}
		instead := cl
		instead.subject = replaced(cl.subject, leaf, other.Name)
		ev, err := eval.evidence(instead, sources, look)
		if err != nil {
			continue
		}
		is, _ := other.Level()
		if there := instead.locate(ev.at); there == above && is < level || there == below && is > level {
			e := ev.at(cl.shown)
			return fmt.Sprintf("; but %s, which it is not %s, is %s", shown(instead.subject),
				map[place]string{above: "below", below: "above"}[there], instead.printed(e, ""))
		}
	}
	return ""
}

// lone is the one metric of a subject that grows with it: the metric itself, times or divided by constants, or with
// constants added. nil of any other subject.
func lone(e *assertion.Expr) *assertion.Expr {
	constant := func(e *assertion.Expr) bool { return e.Op == assertion.Const && e.Value > 0 }
	switch {
	case e.Op == assertion.Metric:
		return e
	case len(e.Args) != 2:
		return nil
	case e.Op == assertion.Add || e.Op == assertion.Mul:
		if constant(e.Args[0]) {
			return lone(e.Args[1])
		}
		fallthrough
	case e.Op == assertion.Div || e.Op == assertion.Sub:
		if constant(e.Args[1]) {
			return lone(e.Args[0])
		}
	}
	return nil
}

// replaced is the expression with another metric in place of a leaf.
func replaced(e, leaf *assertion.Expr, metric string) *assertion.Expr {
	out := *e
	if e == leaf {
		out.Metric = metric
		return &out
	}
	out.Args = slices.Clone(e.Args)
	for i, arg := range e.Args {
		out.Args[i] = replaced(arg, leaf, metric)
	}
	return &out
}

// siblings are the other quantiles of the values that a metric is of, from the lowest on.
func siblings(d *workload.Definitions, c *results.Case, m workload.Metric) (all []workload.Metric) {
	for _, other := range d.Of(c.Workload, c.Run).Definitions {
		if _, ok := other.Level(); ok && other.Family() == m.Family() && other.Name != m.Name {
			all = append(all, other)
		}
	}
	slices.SortStableFunc(all, func(a, b workload.Metric) int {
		x, _ := a.Level()
		y, _ := b.Level()
		return cmp.Compare(x, y)
	})
	return all
}
