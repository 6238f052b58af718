package gate

import (
	"fmt"
	"math"
	"sort"
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

// obstacle is why further launches do not decide an assertion, and what to change so that it can be decided.
type obstacle struct{ why, change string }

// outlook says what becomes of a claim that is inconclusive at a look, and asks for the launches of the next.
func (cl claim) outlook(o *outcome, ev evidence, n int, e estimate, where place) {
	next := nextLook(cl.looks, n)
	switch {
	case where != crossing:
	case next > 0:
		if o.obstacle = cl.stuck(ev, e); o.obstacle.why != "" {
			o.message += fmt.Sprintf("; undecided after %s, and more cannot decide: %s", launches(n), o.obstacle.why)
			return
		}
	default:
		said := ""
		said, o.deciding, o.obstacle = cl.needed(ev, e)
		if o.obstacle.why != "" {
			said = "; " + o.obstacle.why
		}
		o.message += "; " + outlook(next, n) + said
		return
	}
	o.message += "; " + outlook(next, n)
	if next > 0 {
		o.undecided = ev.launched
	}
}

// needed says how many launches, with one look, would decide. The distance to the bound, as
// the launches so far estimate it, is uncertain itself, so the number is where the predictive
// probability of a decision reaches a half, up to where it reaches power. (The distance
// that was estimated, taken for the truth, would decide in a third to two thirds of
// sessions.) The second result is 0 where no number would do, or none can be told.
func (cl claim) needed(ev evidence, e estimate) (string, int, obstacle) {
	decides, limit := cl.predicted(ev, e), searchLimit
	if ev.counted != nil {
		decides, limit = cl.predictedShare(*ev.counted), shareLimit
	}
	switch {
	case decides == nil && e.n < leastAdvice:
		return "", 0, obstacle{change: fmt.Sprintf("set launches: %d or more", leastAdvice)}
	case decides == nil:
		return "", 0, obstacle{}
	}
	if o := cl.obstacle(ev, e, cl.crossed); o.why != "" {
		return "", 0, o
	}
	if ev.modes != "" || ev.outliers != "" { // one of which a session more may have or not
		return "", 0, obstacle{
			"launches differ by more than noise: no number of them is known to decide",
			"find out what makes some launches differ, and remove it",
		}
	}
	from := func(p float64) int {
		return sort.Search(limit+1, func(n int) bool { return n > e.n && decides(float64(n)) >= p })
	}
	few, many := from(0.5), from(power)
	switch {
	case many > limit:
		o := cl.obstacle(ev, e, cl.unlikely)
		if o.why == "" {
			o = obstacle{"it lies too near the bound", "choose another bound: what is measured lies too near this one"}
		}
		o.why = fmt.Sprintf("at this noise not even %d launches would decide with a probability of 80%%: %s", limit,
			o.why)
		return "", 0, o
	case few >= many:
		return fmt.Sprintf("; at this noise about %d launches would decide", many), many, obstacle{}
	}
	return fmt.Sprintf(
		"; at this noise about %d to %d launches would decide, the latter with a probability of 80%%",
		few,
		many,
	), many, obstacle{}
}

// predictedShare is that of a share: so many of n launches succeed with a probability that
// has the beta distribution which the launches so far leave of Jeffreys' prior.
func (cl claim) predictedShare(c counts) func(n float64) float64 {
	a, b := float64(c.good)+0.5, float64(c.made-c.good)+0.5
	lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	beta := func(x, y float64) float64 { return lgamma(x) + lgamma(y) - lgamma(x+y) }
	return func(launches float64) float64 {
		n := int(launches)
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
