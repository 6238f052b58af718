package gate

import (
	"slices"

	"github.com/weir-bench/weir/results/assertion"
)

// analysisCount is the number of distinct interim analyses.
func analysisCount(looks []int) int {
	return max(1, len(slices.Compact(slices.Sorted(slices.Values(looks)))))
}

// at returns the confidences of the analysis after n launches.
func (lv levels) at(looks []int, n int) levels {
	if len(looks) > 0 && n < slices.Max(looks) && !slices.Contains(looks, n) {
		n = nextAnalysis(looks, n) // nothing is decided here: show the interval of the next analysis
	}
	part := func(confidence float64) float64 { return assertion.ConfidenceAt(confidence, looks, n) }
	lv.looks, lv.single = analysisCount(looks), lv.pass
	if len(looks) > 0 && n > slices.Max(looks) {
		lv.looks++
	}
	lv.shown, lv.pass, lv.fail = part(lv.shown), part(lv.pass), part(lv.fail)
	return lv
}

// enoughToPass is the number of launches from which an unseen slow mode does not prevent a pass
// (assertion.EnoughToPass).
const enoughToPass = assertion.EnoughToPass

func enough(looks []int) int { return assertion.Enough(looks) }

func unseen(n int) float64 { return assertion.Unseen(n) }

func hidden(n int, known bool) float64 { return assertion.Hidden(n, known) }
