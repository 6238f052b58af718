package gate

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// refutedByOne says that launches refute an upper bound of 0 of an amount, or of the largest of several: its mean is
// above 0 if one of its values is, whatever interval the launches have. An amount is a metric that cannot be negative,
// or a declared one that was a whole number of 0 or more in each launch.
func (check boundCheck) refutedByOne(sources []*source) results.Reason {
	if check.bounds.Upper == nil || *check.bounds.Upper != 0 {
		return results.Reason{}
	}
	operands := []*assertion.Expr{check.subject}
	if check.subject.Op == assertion.Max {
		operands = check.subject.Args
	}
	above, largest, unit := 0, 0., ""
	for _, leaf := range operands {
		s := check.sourceFor(sources, leaf)
		if s == nil {
			return results.Reason{}
		}
		n, most := check.launchesAbove0(s, leaf)
		above, largest, unit = above+n, max(largest, most), leaf.Unit
	}
	if above == 0 {
		return results.Reason{}
	}
	return results.Because(results.AboveLeast, results.Count("launches", above, "launch"),
		results.Number("most", largest, unit))
}

// launchesAbove0 is how many launches have more than 0 of an amount, with the largest value; none of another metric.
func (check boundCheck) launchesAbove0(s *source, leaf *assertion.Expr) (above int, largest float64) {
	var values []float64
	for _, l := range s.launches {
		v, ok := l.Metrics.Get(leaf.Metric)
		if !ok || !(v >= 0) {
			return 0, 0
		}
		if values = append(values, v); v > 0 {
			above, largest = above+1, max(largest, v)
		}
	}
	if !wholeNumbers(values) && !neverNegative(check.metrics, leaf.Case, leaf.Metric, leaf.Unit) {
		return 0, 0
	}
	return above, largest
}
