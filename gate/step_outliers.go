package gate

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
)

// allWrong reports whether both cases have the same launches and the step goes the wrong way in each, and whether these
// are enough for the median step to do so (allMiss).
func (s step) allWrong(a *results.AssertionVerdict, by stepScale, x, y []point, lv levels) bool {
	if !paired(x, y) || !analysisDue(a.Looks, s.n) || !signTest(len(x), lv.fail) {
		return false
	}
	for i := range x {
		var d estimate
		if by.linear {
			d = beyond(x[i:i+1], y[i:i+1], by.sign, a.Trend.Tolerance, lv.shown)
		} else {
			d = logRatio(x[i:i+1], y[i:i+1], by.sign, lv.shown)
		}
		if (step{n: s.n, linear: s.linear, diff: d, wide: d}).locate(a) != below {
			return false
		}
	}
	return true
}

// sideOfStep is the side on which outliers of both cases put the step: above is the asserted direction.
func sideOfStep(x, y []point, mx, my []bool, by stepScale) position {
	opposite := map[position]position{below: above, above: below, crossing: crossing}
	var side position
	if paired(x, y) {
		steps := make([]float64, len(x))
		for i := range x {
			steps[i] = y[i].value - x[i].value
			if !by.linear {
				steps[i] = y[i].value / x[i].value
			}
		}
		side = sideOfMarked(steps, mx)
	} else {
		from, to := sideOfMarked(valuesOf(x), mx), sideOfMarked(valuesOf(y), my)
		switch {
		case !slices.Contains(mx, true):
			side = to
		case !slices.Contains(my, true) || to == opposite[from]:
			side = opposite[from]
		default:
			return crossing
		}
	}
	if by.sign < 0 {
		return opposite[side]
	}
	return side
}

// outliersOf marks the outlier launches of both cases of a step: by their difference for paired launches,
// because common noise cancels in it.
func outliersOf(x, y []point, by stepScale, a *results.AssertionVerdict) (mx, my []bool) {
	if !paired(x, y) {
		return outliers(by.metrics, a.Subject, x), outliers(by.metrics, a.Subject, y)
	}
	differences, scale := make([]float64, len(x)), 1.0
	for i := range x {
		if by.linear {
			differences[i] = y[i].value - x[i].value
			scale = max(scale, math.Abs(x[i].value), math.Abs(y[i].value))
		} else {
			differences[i] = math.Log(y[i].value) - math.Log(x[i].value)
		}
	}
	marked := outlierMask(differences, scale)
	return marked, marked
}
