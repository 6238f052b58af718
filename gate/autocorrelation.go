package gate

import (
	"cmp"
	"fmt"
	"slices"

	"weir/quantity"
)

// alikeLimits are the rank von Neumann ratios that are undercut in 1 % of sessions whose launches are
// independent, simulated.
var alikeLimits = []threshold{
	{8, 0.643}, {9, 0.683}, {10, 0.703}, {12, 0.790}, {15, 0.904}, {20, 1.020}, {30, 1.185}, {50, 1.347}, {100, 1.543},
}

// autocorrelated says that launches that follow each other are alike, from enoughToPass launches on: by the rank
// version of von Neumann's ratio, the sum of squares of the differences of neighbouring ranks over that of the ranks
// around their mean, which is 2 where launches are independent (Bartels, Journal of the American Statistical
// Association 77, 1982, 40-46). An interval takes launches for independent, and is too narrow then.
func autocorrelated(ps []point) string {
	n := len(ps)
	if n < enoughToPass {
		return ""
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
	if around == 0 || neighbours/around >= interpolated(alikeLimits, n) {
		return ""
	}
	return fmt.Sprintf("launches that follow each other are alike (autocorrelation %s): the interval may be too narrow",
		quantity.Digits(lag/around, 2))
}

// ranksOf are the ranks of values, equal ones sharing the mean of theirs.
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
