package gate

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/results"
)

// autocorrelationLimits are the 1 % quantiles of the rank von Neumann ratio of independent launches, by
// simulation.
var autocorrelationLimits = []threshold{
	{8, 0.643}, {9, 0.683}, {10, 0.703}, {12, 0.790}, {15, 0.904}, {20, 1.020}, {30, 1.185}, {50, 1.347}, {100, 1.543},
}

// autocorrelated returns a reason if consecutive launches are correlated, from enoughToPass launches on.
// It uses the rank version of von Neumann's ratio, the sum of squared differences of neighbouring ranks
// over the sum of squares around the mean rank, which is 2 for independent launches (Bartels, Journal of
// the American Statistical Association 77, 1982, 40-46). Intervals assume independent launches and are too
// narrow otherwise.
func autocorrelated(ps []point) results.Reason {
	n := len(ps)
	if n < enoughToPass {
		return results.Reason{}
	}
	ranks := ranksOf(valuesOf(ps))
	mean := float64(n+1) / 2
	around, neighbours, lag := 0., 0., 0.
	for i, r := range ranks {
		around += (r - mean) * (r - mean)
		if i > 0 {
			neighbours += (r - ranks[i-1]) * (r - ranks[i-1])
			lag += (r - mean) * (ranks[i-1] - mean)
		}
	}
	if around == 0 || neighbours/around >= interpolated(autocorrelationLimits, n) {
		return results.Reason{}
	}
	return results.Because(results.Autocorrelated, results.Number("correlation", lag/around, ""))
}

// ranksOf returns the ranks of values; equal values share their mean rank.
func ranksOf(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			ranks[order[k]] = float64(i+j+1) / 2
		}
		i = j
	}
	return ranks
}
