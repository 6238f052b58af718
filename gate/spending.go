package gate

import (
	"slices"

	"weir/assertion"
)

// lookCount is how many different looks there are.
func lookCount(looks []int) int {
	return max(1, len(slices.Compact(slices.Sorted(slices.Values(looks)))))
}

// at are the confidences of the intervals of the look after n launches.
func (lv levels) at(looks []int, n int) levels {
	if len(looks) > 0 && n < slices.Max(looks) && !slices.Contains(looks, n) {
		n = nextLook(looks, n) // nothing is decided here; the interval shown is that of the look to come
	}
	part := func(confidence float64) float64 { return assertion.AtLook(confidence, looks, n) }
	lv.looks, lv.single = lookCount(looks), lv.pass
	if len(looks) > 0 && n > slices.Max(looks) {
		lv.looks++
	}
	lv.shown, lv.pass, lv.fail = part(lv.shown), part(lv.pass), part(lv.fail)
	return lv
}

// enoughToPass is from how many launches on a slow mode is no reason not to pass (assertion.EnoughToPass).
const enoughToPass = assertion.EnoughToPass

func enough(looks []int) int { return assertion.Enough(looks) }

func unseen(n int) float64 { return assertion.Unseen(n) }

func hidden(n int, known bool) float64 { return assertion.Hidden(n, known) }
