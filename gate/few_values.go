package gate

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// failsDespiteFewValues returns a reason if a quantile of too few values fails nevertheless. Few values
// bias a high quantile downwards, so they cannot excuse a miss:
// - its own interval, if it is of order statistics (quantile.go), is beyond the bound; or it lies above,
// which the bias cannot explain;
// - another quantile of the values implies it (otherQuantileMisses).
func (eval *evaluator) failsDespiteFewValues(
	check boundCheck, sources []*source, atLaunch int, where position,
) (results.Reason, position) {
	leaf, m := check.singleQuantile(sources, atLaunch)
	if leaf == nil {
		return results.Reason{}, where
	}
	if where == above || where == below && distributionsOf(sources[0].launches, m.Family()) != nil {
		return results.Because(results.FewButMissed), where
	}
	return eval.otherQuantileMisses(check, sources, atLaunch)
}

// singleQuantile returns the quantile that a check is about, and its leaf in the subject; nil if it is about another
// metric, about several cases, or if no look is due.
func (check boundCheck) singleQuantile(sources []*source, atLaunch int) (*assertion.Expr, workload.Metric) {
	leaf := monotoneMetric(check.subject)
	if leaf == nil || len(sources) != 1 || sources[0].c == nil || !analysisDue(check.looks, atLaunch) {
		return nil, workload.Metric{}
	}
	m, _ := check.metrics.Metric(sources[0].c, leaf.Metric)
	if _, ok := m.Level(); !ok {
		return nil, workload.Metric{}
	}
	return leaf, m
}

// otherQuantileMisses returns a reason if a lower quantile of the same values, which has enough of them, is above the
// bound, or a higher one below it: quantiles are ordered. The position is that of the miss. The limits of a quantile in
// the tail may be far out although those of the median decide.
func (eval *evaluator) otherQuantileMisses(
	check boundCheck, sources []*source, atLaunch int,
) (results.Reason, position) {
	leaf, m := check.singleQuantile(sources, atLaunch)
	if leaf == nil {
		return results.Reason{}, crossing
	}
	level, _ := m.Level()
	for _, other := range otherQuantiles(check.metrics, sources[0].c, m) {
		if few, _ := fewSamples(check.metrics, sources[0], other.Name, atLaunch, false); few.known() {
			continue
		}
		instead := check
		instead.subject = substitute(check.subject, leaf, other.Name)
		est, err := eval.estimateFor(instead, sources, atLaunch)
		if err != nil {
			continue
		}
		is, _ := other.Level()
		there := instead.locate(est.at)
		if est.withoutOutliers != nil && instead.locate(est.withoutOutliers) != there {
			continue
		}
		if there == above && is < level || there == below && is > level {
			return instead.estimated(results.OtherQuantile, est.at(check.shown),
				results.Text("side", map[position]string{above: "below", below: "above"}[there])), there
		}
	}
	return results.Reason{}, crossing
}

// boundedBelow reports whether a check is a lower bound of a quantile. Few values have a lower limit, and bias a high
// quantile downwards, so they excuse no such pass.
func (check boundCheck) boundedBelow() bool {
	return check.bounds.Upper == nil && monotoneMetric(check.subject) != nil
}

// monotoneMetric returns the single metric in a subject that increases with it: the metric itself, scaled
// by or added to constants. nil otherwise.
func monotoneMetric(e *assertion.Expr) *assertion.Expr {
	constant := func(e *assertion.Expr) bool { return e.Op == assertion.Const && e.Value > 0 }
	switch {
	case e.Op == assertion.Metric:
		return e
	case len(e.Args) != 2:
		return nil
	case e.Op == assertion.Add || e.Op == assertion.Mul:
		if constant(e.Args[0]) {
			return monotoneMetric(e.Args[1])
		}
		fallthrough
	case e.Op == assertion.Div || e.Op == assertion.Sub:
		if constant(e.Args[1]) {
			return monotoneMetric(e.Args[0])
		}
	}
	return nil
}

// substitute replaces the metric of a leaf in an expression.
func substitute(e, leaf *assertion.Expr, metric string) *assertion.Expr {
	out := *e
	if e == leaf {
		out.Metric = metric
		return &out
	}
	out.Args = slices.Clone(e.Args)
	for i, arg := range e.Args {
		out.Args[i] = substitute(arg, leaf, metric)
	}
	return &out
}

// otherQuantiles returns the other quantiles of a metric's values, lowest first.
func otherQuantiles(d *workload.Definitions, c *results.Case, m workload.Metric) (all []workload.Metric) {
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
