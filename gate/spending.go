package gate

import (
	"math"
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

// A slow mode that no launch met may be there all the same: three launches that agree are
// quick ones in half of the sessions of a path of which every fifth launch is slow, eight in one
// of six. Fewer than enoughToPass launches pass only if they would also if as many launches
// as can have gone unseen were slower by so much. An author who gives fewer launches than
// that has what they can tell.
const (
	enoughToPass = 8
	slowerKnown  = 0.12 // where the noise is known, and nothing contradicts it
	slowerNew    = 0.30 // where nothing is known
)

// enough is from how many launches on an assertion passes by its interval alone.
func enough(looks []int) int {
	if len(looks) == 0 {
		return 0
	}
	return min(enoughToPass, slices.Max(looks))
}

// unseen is the largest share of launches that may be slow although n of them met none,
// with a confidence of 96 %.
func unseen(n int) float64 { return 1 - math.Pow(0.04, 1/float64(n)) }

// hidden is the log ratio that a slow mode may cost which n launches did not meet.
func hidden(n int, known bool) float64 {
	slower := slowerNew
	if known {
		slower = slowerKnown
	}
	return -unseen(n) * math.Log(1-slower)
}
