package gate

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/quantity"
)

// searchLimit is where counting launches stops to be advice. Shares need many: for them
// it is what a session may have.
const (
	searchLimit = 100
	shareLimit  = 1000
	leastAdvice = 3 // launches from which noise is told from chance at all
)

// counts are how many launches succeeded of those that were made.
type counts struct{ good, made int }

// needed says how many launches, with one look, would decide. The distance to the bound, as
// the launches so far estimate it, is uncertain itself, so the number is where the predictive
// probability of a decision reaches a half, up to where it reaches power. (The distance
// that was estimated, taken for the truth, would decide in a third to two thirds of
// sessions.) The second result is 0 where no number would do.
func (cl claim) needed(ev evidence, e estimate) (string, int) {
	decides, limit := cl.predicted(ev, e), searchLimit
	if ev.counted != nil {
		decides, limit = cl.predictedShare(*ev.counted), shareLimit
	}
	if decides == nil {
		return "", 0
	}
	from := func(p float64) int {
		return sort.Search(limit+1, func(n int) bool { return n > e.n && decides(n) >= p })
	}
	few, many := from(0.5), from(power)
	switch {
	case many > limit:
		return fmt.Sprintf(
			"; at this noise not even %d launches would decide with a probability of 80%%: it lies too near the bound",
			limit,
		), 0
	case few >= many:
		return fmt.Sprintf("; at this noise about %d launches would decide", many), many
	}
	return fmt.Sprintf(
		"; at this noise about %d to %d launches would decide, the latter with a probability of 80%%",
		few,
		many,
	), many
}

// predicted is the probability that a look after n launches decides. Given m launches with the
// mean distance d from the bound and the standard deviation s, the mean of n others has
// Student's distribution around d with the scale s·√(1/m + 1/n). nil where too few
// launches say anything of it.
func (cl claim) predicted(ev evidence, e estimate) func(n int) float64 {
	center, bound := e.center, nearest(cl.bounds, e.center)
	if e.n < leastAdvice || ev.noise == 0 || quantity.Endless(e.center) {
		return nil
	}
	if positive(cl.metrics, cl.subject) {
		if bound <= 0 {
			return nil
		}
		center, bound = math.Log(center), math.Log(bound)
	}
	d, have := math.Abs(center-bound), float64(e.n)
	t := distuv.StudentsT{Sigma: 1, Nu: have - 1}
	return func(n int) float64 {
		half := student(float64(n-1), cl.single) * ev.noise / math.Sqrt(float64(n))
		scale := ev.noise * math.Sqrt(1/have+1/float64(n))
		return t.CDF((d-half)/scale) + t.CDF((-d-half)/scale)
	}
}

// predictedShare is that of a share: so many of n launches succeed with a probability that
// has the beta distribution which the launches so far leave of Jeffreys' prior.
func (cl claim) predictedShare(c counts) func(n int) float64 {
	a, b := float64(c.good)+0.5, float64(c.made-c.good)+0.5
	lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	beta := func(x, y float64) float64 { return lgamma(x) + lgamma(y) - lgamma(x+y) }
	return func(n int) float64 {
		where := func(good int) place { return locate(cl.bounds, clopperPearson(good, n, cl.single)) }
		low := func(v place) bool { return v == below || cl.bounds.Lower == nil && v == inside }
		refuted := sort.Search(n+1, func(good int) bool { return !low(where(good)) })
		shown := sort.Search(n+1, func(good int) bool { w := where(good); return w != crossing && !low(w) })
		sum := 0.
		for k := 0; k <= n; k++ {
			if k >= refuted && k < shown {
				continue
			}
			x, y := float64(k), float64(n-k)
			choose := lgamma(float64(n)+1) - lgamma(x+1) - lgamma(y+1)
			sum += math.Exp(choose + beta(a+x, b+y) - beta(a, b))
		}
		return sum
	}
}
