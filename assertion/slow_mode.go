package assertion

import (
	"math"
	"slices"
)

// A slow mode that no launch met may be there all the same: three launches that agree are
// quick ones in half of the sessions of a path of which every fifth launch is slow, eight in one
// of six. Fewer than EnoughToPass launches pass only if they would also if as many launches
// as can have gone unseen were slower by so much. An author who gives fewer launches than
// that has what they can tell.
const (
	EnoughToPass = 8
	slowerKnown  = 0.12 // where the noise is known, and nothing contradicts it
	slowerNew    = 0.30 // where nothing is known
)

// Enough is from how many launches on an assertion passes by its interval alone.
func Enough(looks []int) int {
	if len(looks) == 0 {
		return 0
	}
	return min(EnoughToPass, slices.Max(looks))
}

// Unseen is the largest share of launches that may be slow although n of them met none,
// with a confidence of 96 %.
func Unseen(n int) float64 { return 1 - math.Pow(0.04, 1/float64(n)) }

// Hidden is the log ratio that a slow mode may cost which n launches did not meet.
func Hidden(n int, known bool) float64 {
	slower := slowerNew
	if known {
		slower = slowerKnown
	}
	return -Unseen(n) * math.Log(1-slower)
}

// LeastPooled is the number of degrees of freedom from which on noise that is pooled over the cases of a run
// counts as known.
const LeastPooled = 8

// A case with known noise may pass by a variance that other cases of its run moderate, if LeastModerating of them have
// known noise too. The interval is ModeratedRoom times as wide as that variance makes it: then a case that alone varies
// by three times what history knows stays within the promised errors.
const (
	LeastModerating = 5
	ModeratedRoom   = 1.2
)
