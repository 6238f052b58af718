package assertion

import (
	"math"
	"slices"
)

// A slow mode may exist although no launch met it: if every fifth launch is slow, three launches are all
// fast in half of the sessions, eight in one of six. Fewer than EnoughToPass launches pass only if they
// would also pass with the unseen share of launches slower by these log ratios. If the author asks for
// fewer launches, these suffice.
const (
	EnoughToPass = 8
	slowerKnown  = 0.12 // if the noise is known and not contradicted
	slowerNew    = 0.30 // if nothing is known
)

// Enough is the number of launches from which an assertion passes by its interval alone.
func Enough(looks []int) int {
	if len(looks) == 0 {
		return 0
	}
	return min(EnoughToPass, slices.Max(looks))
}

// Unseen is the largest share of slow launches that n launches may all miss, with a confidence of 96 %.
func Unseen(n int) float64 { return 1 - math.Pow(0.04, 1/float64(n)) }

// Hidden is the log ratio that an unseen slow mode may cost after n launches.
func Hidden(n int, known bool) float64 {
	slower := slowerNew
	if known {
		slower = slowerKnown
	}
	return -Unseen(n) * math.Log(1-slower)
}

// LeastPooled is the number of degrees of freedom from which on noise pooled over the cases of a run
// counts as known.
const LeastPooled = 8

// A case with known noise may pass by a variance moderated by other cases if LeastModerating of them have
// known noise too. The interval is widened by ModeratedRoom, so that the error rates hold for a case that
// varies by three times the known noise.
const (
	LeastModerating = 5
	ModeratedRoom   = 1.2
)
