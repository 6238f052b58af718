package gate

import (
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// refutedByOne says that launches refute an upper bound of 0 of an amount, or of a sum or mean of several: its mean is
// above 0 if one of its values is, whatever interval the launches have.
func (check boundCheck) refutedByOne(sources []*source) results.Reason {
	if check.bounds.Upper == nil || *check.bounds.Upper != 0 {
		return results.Reason{}
	}
	type launch struct {
		key string
		at  int
	}
	above, cases, largest, unit := map[launch]bool{}, map[string]bool{}, 0., ""
	for _, leaf := range summands(check.subject) {
		values, ok := check.amounts(sources, leaf)
		if !ok {
			return results.Reason{}
		}
		unit = leaf.Unit
		key := check.sourceOf(leaf).key
		for i, v := range values {
			if v > 0 {
				above[launch{key, i}], cases[key], largest = true, true, max(largest, v)
			}
		}
	}
	if len(above) == 0 {
		return results.Reason{}
	}
	return results.Because(results.AboveLeast, launchedOf(len(cases), len(above)),
		results.Number("most", largest, unit))
}

// neverNegative reports whether a subject is an amount, or a sum or mean of amounts.
func (check boundCheck) neverNegative(sources []*source) bool {
	leaves := summands(check.subject)
	return len(leaves) > 0 && !slices.ContainsFunc(leaves, func(leaf *assertion.Expr) bool {
		_, ok := check.amounts(sources, leaf)
		return !ok
	})
}

// summands are the metrics of a sum or a mean, or a metric alone; nil of another expression.
func summands(e *assertion.Expr) []*assertion.Expr {
	switch e.Op {
	case assertion.Metric:
		return []*assertion.Expr{e}
	case assertion.Add, assertion.Mean:
		var all []*assertion.Expr
		for _, arg := range e.Args {
			of := summands(arg)
			if of == nil {
				return nil
			}
			all = append(all, of...)
		}
		return all
	}
	return nil
}

// amounts returns the values of a metric of this session; false if it is no amount.
func (check boundCheck) amounts(sources []*source, leaf *assertion.Expr) ([]float64, bool) {
	s := check.sourceFor(sources, leaf)
	if s == nil {
		return nil, false
	}
	var values []float64
	for _, l := range s.launches {
		v, ok := l.Metrics.Get(leaf.Metric)
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return values, isAmount(values, neverNegative(check.metrics, leaf.Case, leaf.Metric, leaf.Unit))
}
