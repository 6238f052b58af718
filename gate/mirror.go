package gate

import (
	"cmp"
	"math"
	"slices"

	"weir/quantity"
	"weir/results"
)

// mirrorOdds is how many changes of a side the mirror needs for each of the other side, and one more.
const mirrorOdds = 8

// mirrored finds the changes of a metric of which many lie further from the shift on their side than hardly any
// does on the other. Of w changes at least as far on one side and m on the other it finds the w that are beyond
// chance each by itself, where w >= 8·(1 + m): without true changes both sides are alike, whatever noise there
// is, and the first eight all lie on one side once in 2^8. It is the knockoff filter of Barber and Candès
// (Annals of Statistics 43, 2015) with the other side as knockoffs, by which alone one in eight might be false.
// It finds many changes where Benjamini and Hochberg's procedure, with tails as wide as cases may have them,
// finds none. Of several metrics, whose changes may be of the same launches, it needs more.
func mirrored(xs []*contrast, metrics int) {
	odds := mirrorOdds * (1 + math.Log2(float64(metrics))/4)
	for _, sign := range []float64{-1, 1} {
		far := func(x *contrast) float64 {
			return sign * x.apart() / math.Sqrt(x.shift.scale*x.shift.scale+x.change.variance)
		}
		sorted := slices.SortedStableFunc(slices.Values(xs), func(a, b *contrast) int {
			return cmp.Or(cmp.Compare(math.Abs(far(b)), math.Abs(far(a))), cmp.Compare(far(a), far(b)))
		})
		own, other, last := 0, 0, 0
		for _, x := range sorted {
			switch d := far(x); {
			case d > 0:
				own++
			default:
				other++
			}
			if float64(own) >= odds*float64(1+other) {
				last = own
			}
		}
		for _, x := range sorted {
			e := x.effect.Change
			if far(x) <= 0 || last == 0 {
				continue
			}
			last--
			if !e.Found && e.P != nil && *e.P <= quantity.Round(1-results.Confidence) {
				e.Found, e.Mirrored = true, true
			}
		}
	}
}
