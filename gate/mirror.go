package gate

import (
	"cmp"
	"math"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// mirrorOdds is the number of changes on one side needed per change on the other side, plus one.
const mirrorOdds = 8

// mirrored finds changes of a metric if many more lie far from the shift on one side than on the other.
// With w changes at least as far on one side and m on the other, it finds the w that are individually
// significant if w >= 8·(1 + m): without true changes the sides are symmetric for any noise, and the first
// eight lie on one side with probability 2^-8. This is the knockoff filter of Barber and Candès (Annals of
// Statistics 43, 2015) with the other side as knockoffs. It finds many changes where Benjamini and
// Hochberg's procedure finds none because of wide tails. With several metrics, which may change by the
// same launches, it needs more.
func mirrored(xs []*contrast, metrics int) {
	odds := mirrorOdds * (1 + math.Log2(float64(metrics))/4)
	for _, sign := range []float64{-1, 1} {
		far := func(x *contrast) float64 {
			return sign * x.fromShiftLog() / math.Sqrt(x.shift.scale*x.shift.scale+x.change.variance)
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
