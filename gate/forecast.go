package gate

import (
	"fmt"
	"math"
	"sort"

	"github.com/weir-bench/weir/results"
)

// searchLimit is the largest number of launches that is still useful advice; shares need more.
const (
	searchLimit = 100
	shareLimit  = 1000
	leastAdvice = 3 // below, noise cannot be told from chance
)

// successCount is how many launches succeeded.
type successCount struct{ good, made int }

// obstacle is why further launches cannot decide an assertion, and what to change.
type obstacle struct {
	why    []results.Reason
	change string
}

func (o obstacle) known() bool { return len(o.why) > 0 }

// forecast completes an inconclusive outcome: it requests the launches of the next interim analysis, or
// says what would decide.
func (check boundCheck) forecast(o *outcome, est subjectEstimate, n int, e estimate, where position) {
	next := nextAnalysis(check.looks, n)
	switch {
	case where != crossing:
	case next > 0:
		if o.obstacle = check.cannotDecide(est, e); o.obstacle.known() {
			o.addReasons(results.Because(results.MoreCannotDecide, launched(n)))
			o.addReasons(o.obstacle.why...)
			return
		}
	default:
		o.addReasons(pendingReason(next, n))
		var said results.Reason
		said, o.deciding, o.obstacle = check.launchesNeeded(est, e)
		o.addReasons(said)
		o.addReasons(o.obstacle.why...)
		return
	}
	o.addReasons(pendingReason(next, n))
	if next > 0 {
		o.undecided = est.relaunchable
	}
}

// launchesNeeded returns how many launches would decide in a single analysis. The distance to the bound is
// itself uncertain, so the result is a range: from a predictive probability of 1/2 to one of power.
// (Taking the estimated distance for the truth would decide in a third to two thirds of sessions.)
// deciding is 0 if no number would, or if it is unknown.
func (check boundCheck) launchesNeeded(
	est subjectEstimate, e estimate,
) (said results.Reason, deciding int, o obstacle) {
	decides, limit := check.decisionProbability(est, e), searchLimit
	if est.successes != nil {
		decides, limit = check.shareDecisionProbability(*est.successes), shareLimit
	}
	switch {
	case decides == nil && e.n < leastAdvice:
		return said, 0, obstacle{change: fmt.Sprintf("set launches: %d or more", leastAdvice)}
	case decides == nil:
		return said, 0, o
	case est.pooled && est.statedNoise() && e.n < leastQuiet: // its own may count then
		return said, 0, obstacle{change: fmt.Sprintf("set launches: %d or more", leastQuiet)}
	}
	if o := check.obstacle(est, e, check.blockedByFixedVariance); o.known() {
		return said, 0, o
	}
	if len(est.modes) > 0 || !est.outliers.None() { // another session may have them or not
		return said, 0, obstacle{
			[]results.Reason{results.Because(results.LaunchesDiffer)},
			"find out what makes some launches differ, and remove it",
		}
	}
	from := func(p float64) int {
		return sort.Search(limit+1, func(n int) bool { return n > e.n && decides(float64(n)) >= p })
	}
	few, many := from(0.5), from(power)
	switch {
	case many > limit:
		o := check.obstacle(est, e, check.decisionUnlikely)
		if !o.known() {
			o = obstacle{
				[]results.Reason{results.Because(results.NearBound)},
				"choose another bound: the value is too near this one",
			}
			switch {
			case !check.farFromBounds(e.center, est.noise):
			case est.statedNoise():
				o = obstacle{[]results.Reason{est.noiseReason}, "measure the reference anew: its noise is too large"}
			default:
				o = obstacle{
					[]results.Reason{results.Because(results.LaunchesScatter)},
					"make the host quieter: its launches scatter too much",
				}
			}
		}
		noisy := results.Because(results.TooNoisy, results.Count("most", limit, "launch"))
		o.why = append([]results.Reason{noisy}, o.why...)
		return said, 0, o
	case few >= many:
		return results.Because(results.WouldDecide, results.Count("most", many, "launch")), many, obstacle{}
	}
	return results.Because(results.WouldDecide, results.Count("least", few, "launch"),
		results.Count("most", many, "launch")), many, obstacle{}
}

// statedNoise reports whether the noise is what a reference or a history states, and not that of the launches.
func (est subjectEstimate) statedNoise() bool { return est.known && est.noise > 2*est.spread }

// nearBound is the largest distance from a bound, as a share of it, of a value that is near the bound.
const nearBound = 0.1

// farFromBounds reports whether a value is near no bound, and near no end of their halo. In the middle half of a band,
// it could not be farther. noise is the standard deviation of one launch.
func (check boundCheck) farFromBounds(value, noise float64) bool {
	if low, high := check.bounds.Lower, check.bounds.Upper; low != nil && high != nil &&
		min(value-*low, *high-value) >= (*high-*low)/4 {
		return true
	}
	ends := check.withHalo()
	for _, bound := range []*float64{check.bounds.Lower, check.bounds.Upper, ends.Lower, ends.Upper} {
		near := noise // of one launch: 0 has no share
		if bound != nil && *bound != 0 {
			near = nearBound * math.Abs(*bound)
		}
		if bound != nil && math.Abs(value-*bound) <= near {
			return false
		}
	}
	return true
}

// shareDecisionProbability is decisionProbability for a share: the number of successes of n launches is
// beta-binomial, by Jeffreys' prior and the launches so far.
func (check boundCheck) shareDecisionProbability(c successCount) func(n float64) float64 {
	a, b := float64(c.good)+0.5, float64(c.made-c.good)+0.5
	lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	beta := func(x, y float64) float64 { return lgamma(x) + lgamma(y) - lgamma(x+y) }
	return func(launches float64) float64 {
		n := int(launches)
		where := func(good int) position { return locate(check.bounds, clopperPearson(good, n, check.single)) }
		low := func(v position) bool { return v == below || check.bounds.Lower == nil && v == inside }
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

// pendingReason says which interim analysis an undecided assertion waits for.
func pendingReason(next, n int) results.Reason {
	if next > 0 {
		return results.Because(results.NextLook, launched(n), results.Count("next", next, "launch"))
	}
	return results.Because(results.LastLook, launched(n))
}
