package gate

import (
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// boundCheck checks that a subject lies within bounds.
type boundCheck struct {
	metrics  *workload.Definitions
	subject  *assertion.Expr
	unit     string
	written  string // the author's unit of the bounds; "": the same as unit
	bounds   assertion.Bounds
	target   *float64 // centre of the bounds; nil if the author gave none
	compared bool     // subject is the quotient of two sides that the author compares
	halo     float64
	looks    []int
	own      *results.Case // nil if the assertion belongs to a run
	noise    []assertion.Noise
	// constant was taken from the subject that the author wrote; nil: none
	constant *constantTerm
	// positive says that the subject is above zero in every launch, although its metrics may be 0.
	positive bool
	// gainByDifference says that a gain is judged by the difference of its sides: it has no value in percent.
	gainByDifference bool
	levels
}

// subjectEstimate is the estimate of a boundCheck's subject, with what qualifies it.
type subjectEstimate struct {
	at              func(confidence float64) estimate
	withoutOutliers func(confidence float64) estimate // at without outliers; nil if there are none
	// moderated is at with a variance moderated by other cases; nil if unavailable. Only a pass may use it.
	moderated func(confidence float64) estimate
	// clamped is at with good outliers moved towards the bound; nil if there are none. Only a pass may use it.
	clamped      func(confidence float64) estimate
	own          func() []float64 // the value of each launch; none of several cases that did not take turns
	outlierSide  position         // of the other launches on which all outliers are; crossing: both
	outliers     results.Reason
	method       []results.Reason // how several cases were combined
	noise        float64          // standard deviation of one launch, on the scale of the interval
	spread       float64          // of the launches themselves, without the known noise
	fixed        fixedVariance    // variance that more launches do not reduce
	relaunchable []string         // keys of the cases that can be launched again
	successes    *successCount    // of an availability check only
	failures     results.Reason   // failed launches, of an availability check only
	known        bool             // noise was known beforehand, and the launches do not contradict it
	pooled       bool             // then: from other cases of the session
	// noiseReason is the noise known beforehand, or that the launches contradict it.
	noiseReason     results.Reason
	modes           []results.Reason // the launches fall into two groups
	autocorrelation results.Reason   // consecutive launches are correlated
	unknown         *unknownSessions
	unknownWithout  *unknownSessions // without outliers
}

// judgeUsable applies the group-sequential rule to the usable launches. The check passes if the interval
// lies inside the bounds and fails if it lies outside. Otherwise the launches of the next interim analysis
// are needed; after the last one the verdict is inconclusive. A value outside the bounds but within the
// halo warns.
//
// The first analysis that decides is final: launches that another assertion needed later change nothing.
func (eval *evaluator) judgeUsable(check boundCheck) outcome {
	sources, o, ok := eval.sourcesOf(check)
	switch {
	case !ok:
		return o
	case check.bounds.Lower == nil && check.bounds.Upper == nil:
		return invalidAssertion("the assertion has no bounds")
	}
	if check, o, ok = check.withoutRatio(sources); !ok {
		return o
	}
	have := check.launchesCounted(sources)
	final := eval.interimAnalysis(check, sources, have)
	if final.verdict == results.ErrorVerdict || !check.refutedByOne(sources).None() ||
		!analysisDue(check.looks, have) && launchLost(sources) {
		return final // all launches count for an unusable one, and for a bound of 0 that one of them refutes
	}
	for _, atLaunch := range slices.Compact(slices.Sorted(slices.Values(check.looks))) {
		if atLaunch >= have {
			break
		}
		then := upTo(sources, atLaunch, isAvailability(check.subject))
		if o := eval.interimAnalysis(check, then, atLaunch); o.decided() {
			return o
		}
	}
	return final
}

// launchLost reports whether the document lacks a launch of a case of this session: what it was is unknown, so the
// first launches are not those of an earlier look.
func launchLost(sources []*source) bool {
	return slices.ContainsFunc(sources, func(s *source) bool {
		if s.c == nil {
			return false
		}
		made := byIndex(s.c.Launches)
		return len(made) > 0 && made[len(made)-1].Index != len(made)-1
	})
}

// decided reports whether further launches cannot change an outcome.
func (o outcome) decided() bool {
	return o.verdict != results.InconclusiveVerdict && o.verdict != results.ErrorVerdict
}

// launchesCounted returns how many launches count for interim analyses.
func (check boundCheck) launchesCounted(sources []*source) int {
	if isAvailability(check.subject) {
		return len(usable(sources[0].c))
	}
	return fewest(sources)
}

// upTo returns the sources as they were at an interim analysis: with the first launches of this session's
// cases. If all is set, failed launches between them are kept.
func upTo(sources []*source, atLaunch int, all bool) []*source {
	var out []*source
	for _, s := range sources {
		less := *s
		switch {
		case s.c == nil:
			less.donor = s.donor[:min(atLaunch, len(s.donor))]
		case all:
			count := 0
			for i, l := range less.launches {
				if l.Usable() {
					count++
				}
				if count == atLaunch {
					less.launches = less.launches[:i+1]
					break
				}
			}
		default:
			less.launches = s.launches[:min(atLaunch, len(s.launches))]
		}
		out = append(out, &less)
	}
	return out
}

// interimAnalysis judges a check by its first n launches.
func (eval *evaluator) interimAnalysis(check boundCheck, sources []*source, n int) outcome {
	check.levels = check.levels.at(check.looks, n)
	if r := missingByDesign(sources, check.subject); !r.None() {
		return outcome{verdict: results.InconclusiveVerdict, reasons: []results.Reason{r}}
	}
	est, o, ok := eval.estimateAt(check, sources, n)
	if !ok {
		return o
	}
	est.at = memoized(est.at)
	where := check.locate(est.at)
	if est.moderated != nil && where == crossing && check.locate(est.moderated) == inside {
		est.at, where = est.moderated, inside
		est.noiseReason.Kind = results.NoiseModerated
	}
	if est.clamped != nil && where == crossing && check.locate(est.clamped) == inside {
		est.at, where = est.clamped, inside
	}
	refuted := check.refutedByOne(sources)
	if !refuted.None() {
		where, est.withoutOutliers = above, nil
	}
	e := est.at(check.shown)
	o = outcome{verdict: results.InconclusiveVerdict, observed: check.observedAsWritten(e), noise: est.noiseReason}
	var implied results.Reason // a miss that the interval does not show
	o.estimate = func() []results.Reason {
		relation := check.relation(e, where, !implied.None() && implied.Kind != results.FewButMissed)
		said := append(make([]results.Reason, 0, 8), check.ratioValues(sources, e), relation)
		said = ofVerdict(check.withContext(said, &est, where), o.verdict)
		return append(said, check.launchValues(sources, e), check.ceilingReason(sources, where))
	}
	o.addReasons(refuted)
	var late results.Reason
	if !isAvailability(check.subject) {
		late = startSkew(check.own)
	}
	o.addReasons(late)
	if r := undecidableReason(sources, check.subject); !r.None() {
		o.addReasons(r)
		return o
	}
	few, more := tooFewValues(check.metrics, sources, check.subject, slices.Max(append([]int{n}, check.looks...)))
	if few.known() && !(where == inside && check.boundedBelow()) {
		if miss, side := eval.failsDespiteFewValues(check, sources, n, where); !miss.None() && late.None() {
			o.verdict, implied, where = results.Fail, miss, side
			o.addReasons(miss)
			return o
		}
		o.addReasons(few.why...)
		o.obstacle = few
		if next := nextAnalysis(check.looks, n); more && next > 0 {
			o.addReasons(pendingReason(next, n))
			o.undecided = est.relaunchable
		}
		return o
	}
	if where == crossing && late.None() && analysisDue(check.looks, n) {
		if implied, where = eval.impliedMiss(check, sources, &est, n); !implied.None() {
			o.verdict = results.Fail
			o.addReasons(implied, est.outliers, discardedReason(sources, check.looks))
			return o
		}
	}
	if side := est.missedWithoutOutliers(check); where == crossing && side != crossing {
		where, implied, est.unknown = side, results.Because(results.OutliersWorsen), est.unknownWithout
	}
	stable := true
	if est.withoutOutliers != nil {
		o.addReasons(implied, est.outliers)
		stable = check.locate(est.withoutOutliers) == where
	}
	o.addReasons(est.modes...)
	o.addReasons(est.autocorrelation)
	next := nextAnalysis(check.looks, n)
	var wants results.Reason
	forbidden, more := est.unknown.mayExplainMiss(check, where)
	switch {
	case !analysisDue(check.looks, n), where == crossing:
	case !stable:
		o.addReasons(results.Because(results.OutliersDecide))
	case where == inside:
		if wants = check.slowModeReason(est, n); wants.None() {
			o.verdict = results.Pass
		}
	case where == inHalo, where == crossingHalo && next == 0:
		o.verdict = results.WarnVerdict
	case !late.None() && check.worse(where):
		return o // more launches cannot change this
	case forbidden && !more:
		o.obstacle = est.unknown.obstacle(check)
		o.addReasons(o.obstacle.why...)
		return o
	case forbidden:
		o.addReasons(est.unknown.reason(check))
	case where == below, where == above:
		o.verdict = results.Fail
		if where == below {
			o.addReasons(check.stragglers(e)...)
		}
	}
	if e.ci() != nil {
		o.addReasons(est.noiseReason)
	}
	if o.verdict == results.InconclusiveVerdict {
		o.addReasons(wants)
		check.forecast(&o, est, n, e, where)
	}
	switch {
	case o.verdict == results.InconclusiveVerdict || isAvailability(check.subject):
	case e.ci() == nil:
		o.addReasons(results.Because(results.OneLaunch))
	case o.verdict == results.Pass && check.better() != workload.Neither:
		o.addReasons(results.Because(results.UnseenMode, launched(e.n), results.Number("share", unseen(e.n), "share")))
	}
	if o.verdict != results.Pass {
		o.addReasons(counterNote(sources), operationsFailed(sources))
	}
	if est.failures.None() { // which would name the same launches
		o.addReasons(retried(sources))
	}
	if o.verdict != results.Pass {
		o.addReasons(discardedReason(sources, check.looks))
	}
	return o
}

// sourcesOf returns the sources of a check, or the outcome that their state forces.
func (eval *evaluator) sourcesOf(check boundCheck) ([]*source, outcome, bool) {
	if isAvailability(check.subject) {
		return eval.launchesOfAvailability(check)
	}
	return eval.sources(check)
}

// estimateAt estimates the subject at an interim analysis.
func (eval *evaluator) estimateAt(check boundCheck, sources []*source, atLaunch int) (subjectEstimate, outcome, bool) {
	if isAvailability(check.subject) {
		return availabilityEstimate(check, sources[0]), outcome{}, true
	}
	est, err := eval.estimateFor(check, sources, atLaunch)
	if err != nil {
		o := failed(reasonOf(err))
		if len(sources) == 1 && sources[0].c != nil {
			o.causes = []*results.Case{sources[0].c}
		}
		return subjectEstimate{}, o, false
	}
	return est, outcome{}, true
}

// worse reports whether a position is on the slow side of the bounds. For metrics without a better
// direction, such as bytes moved, neither side is.
func (check boundCheck) worse(where position) bool {
	return where == below && check.better() == workload.Higher || where == above && check.better() == workload.Lower
}

// better returns the direction in which the subject is better: that of its metric, or by the dimension of
// an expression.
func (check boundCheck) better() workload.Direction {
	if check.subject.Op == assertion.Metric && check.own != nil {
		if m, ok := check.metrics.Metric(check.own, check.subject.Metric); ok {
			return m.Better
		}
	}
	u, _ := quantity.UnitOf(check.unit)
	switch u.Dim {
	case quantity.RateDim, quantity.Frequency:
		return workload.Higher
	case quantity.TimeDim:
		return workload.Lower
	}
	return workload.Neither
}
