package gate

import (
	"math"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// refutedByOne says that launches refute an upper bound of 0 of an amount: its mean is above 0 if one of its values is,
// whatever interval the launches have. An amount is a metric that cannot be negative, or a declared one that was a
// whole number of 0 or more in each launch.
func (check boundCheck) refutedByOne(sources []*source) results.Reason {
	leaf := check.subject
	if leaf.Op != assertion.Metric || check.bounds.Upper == nil || *check.bounds.Upper != 0 ||
		len(sources) != 1 || sources[0].c == nil {
		return results.Reason{}
	}
	above, whole, largest := 0, true, 0.
	for _, l := range sources[0].launches {
		v, ok := l.Metrics.Get(leaf.Metric)
		if !ok || !(v >= 0) {
			return results.Reason{}
		}
		if v > 0 {
			above++
		}
		whole, largest = whole && v == math.Trunc(v), max(largest, v)
	}
	if above == 0 || !whole && !neverNegative(check.metrics, leaf.Case, leaf.Metric, leaf.Unit) {
		return results.Reason{}
	}
	return results.Because(results.AboveLeast, results.Count("launches", above, "launch"),
		results.Number("most", largest, leaf.Unit))
}
