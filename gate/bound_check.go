package gate

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/gate/wording"
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
	outliers     results.Reason
	method       []results.Reason // how several cases were combined
	noise        float64          // standard deviation of one launch, on the scale of the interval
	spread       float64          // of the launches themselves, without the known noise
	fixed        fixedVariance    // variance that more launches do not reduce
	relaunchable []string         // keys of the cases that can be launched again
	successes    *successCount    // of an availability check only
	failures     results.Reason   // failed launches, of an availability check only
	known        bool             // noise was known beforehand, and the launches do not contradict it
	// noiseReason is the noise known beforehand, or that the launches contradict it.
	noiseReason     results.Reason
	modes           []results.Reason // the launches fall into two groups
	autocorrelation results.Reason   // consecutive launches are correlated
	unknown         *unknownSessions
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
	var implied results.Reason // by another quantile
	o.estimate = func() []results.Reason {
		relation := check.relation(e, where)
		if implied.Kind == results.OtherQuantile {
			relation = check.missed(e, where)
		}
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
	if where == crossing && late.None() {
		if implied, where = eval.otherQuantileMisses(check, sources, n); !implied.None() {
			o.verdict = results.Fail
			o.addReasons(implied, discardedReason(sources, check.looks))
			return o
		}
	}
	stable := true
	if est.withoutOutliers != nil {
		o.addReasons(est.outliers)
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
	case forbidden:
		o.addReasons(est.unknown.reason(check))
		if !more {
			return o
		}
	case where == below, where == above:
		o.verdict = results.Fail
		if where == below {
			o.addReasons(check.stragglers(e)...)
		}
	}
	if e.n > 1 {
		o.addReasons(est.noiseReason)
	}
	if o.verdict == results.InconclusiveVerdict {
		o.addReasons(wants)
		check.forecast(&o, est, n, e, where)
	}
	switch {
	case o.verdict == results.InconclusiveVerdict || isAvailability(check.subject):
	case e.n == 1:
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

// observedAsWritten is the estimate of the subject as the author wrote it; nil of a gain without a value in percent.
func (check boundCheck) observedAsWritten(e estimate) *results.Observed {
	if check.gainByDifference {
		return nil
	}
	_, e = check.asWritten(e)
	return check.observed(e, check.unit)
}

// estimated returns a reason with the estimate and its bounds.
func (check boundCheck) estimated(kind results.ReasonKind, e estimate, more ...results.Value) results.Reason {
	check, e = check.asWritten(e)
	o := check.observed(e, check.unit)
	values := make([]results.Value, 0, 12+len(more))
	add := func(name string, v *float64, unit string) {
		if v != nil {
			values = append(values, results.Number(name, *v, unit))
		}
	}
	values = append(values, results.Text("subject", formatSubject(check.subject)),
		results.Number("value", o.Value, check.unit))
	if o.CI != nil {
		add("low", &o.CI[0], check.unit)
		add("high", &o.CI[1], check.unit)
	}
	values = append(values, results.Count("n", o.N, ""))
	if o.Confidence != 0 {
		values = append(values, results.Number("confidence", o.Confidence, "confidence"))
	}
	if o.Looks > 0 {
		values = append(values, results.Count("looks", o.Looks, ""))
	}
	add("lower", check.bounds.Lower, check.unit)
	add("upper", check.bounds.Upper, check.unit)
	values = append(values, results.Text("written", check.written))
	if check.bounds.Strict {
		values = append(values, results.Text("strict", "yes"))
	}
	return results.Because(kind, append(values, more...)...)
}

// withContext appends the reasons that qualify the estimate, which is the last of said.
func (check boundCheck) withContext(said []results.Reason, est *subjectEstimate, where position) []results.Reason {
	if estimated := said[len(said)-1]; estimated.Text("gain") == "" {
		said = append(said, check.suspiciouslyFast(estimated.Kind))
		if where == inHalo || where == crossingHalo {
			margin := results.Number("halo", check.halo, "share")
			said = append(said, results.Because(results.InHalo, margin))
		}
	}
	said = append(said, check.familyNote(est.at, where))
	return append(append(said, est.method...), est.failures)
}

// ofVerdict leaves out what a verdict does not depend on: a pass assumes that sessions do not differ, and a failure
// allows for how those differ that are kept beside the baseline.
func ofVerdict(said []results.Reason, v results.Verdict) []results.Reason {
	of := func(kind results.ReasonKind) func(results.Reason) bool {
		return func(r results.Reason) bool { return r.Kind == kind }
	}
	switch {
	case !slices.ContainsFunc(said, of(results.SessionsKept)):
		return said
	case v == results.Fail:
		return slices.DeleteFunc(said, of(results.SessionsAlike))
	case v == results.Pass:
		return slices.DeleteFunc(said, of(results.SessionsKept))
	}
	return said
}

// slowModeReason says why a value inside the bounds does not pass yet: the cost of a slow mode that no
// launch met would move it out of them.
func (check boundCheck) slowModeReason(est subjectEstimate, n int) results.Reason {
	better := check.better()
	if n >= enough(check.looks) || better == workload.Neither || isAvailability(check.subject) {
		return results.Reason{}
	}
	e := est.at(check.pass)
	if check.unit == "" && e.n > 1 && e.lo == e.hi && e.center == math.Trunc(e.center) {
		return results.Reason{} // the same count in all launches, which is no speed
	}
	cost := math.Expm1(hidden(n, est.known)) * math.Abs(e.center)
	if better == workload.Higher {
		cost = math.Expm1(-hidden(n, est.known)) * math.Abs(e.center)
	}
	slower := e.center + cost
	if locate(check.bounds, estimate{slower, slower, slower, n}) == inside {
		return results.Reason{}
	}
	kind := results.ModeNoiseUnknown
	if est.known {
		kind = results.ModeNoiseKnown
	}
	cost = math.Abs(math.Expm1(-hidden(n, est.known)))
	return results.Because(kind, results.Number("cost", cost, "share"), launched(enough(check.looks)))
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

// relation returns a reason for where the estimate lies relative to the bounds.
func (check boundCheck) relation(e estimate, where position) results.Reason {
	check, e = check.asWritten(e)
	b := check.bounds
	seen := locate(b, e) // by the displayed interval; families are judged by wider ones
	var more []results.Value
	if metric, ok := check.gainOf(); ok {
		more = append(more, results.Text("gain", metric))
		if where == crossing {
			more = append(more, results.Number("crossed", wording.Nearest(b, e.center), ""))
		}
	} else if where == crossing && seen != inside && locate(check.withHalo(), e) == crossing {
		b = check.withHalo()
		if seen != crossing { // only the halo is undecided
			more = append(more, results.Number("of_halo", check.halo, "share"))
			seen = crossing
		}
		if check.halo != 0 {
			more = append(more, results.Count("widened", 1, ""))
			for _, end := range []struct {
				name  string
				bound *float64
			}{{"widened_lower", b.Lower}, {"widened_upper", b.Upper}} {
				if end.bound != nil {
					more = append(more, results.Number(end.name, *end.bound, check.unit))
				}
			}
		}
	}
	switch seen {
	case below, above:
		return check.missed(e, seen, more...)
	case inside:
		return check.estimated(results.InsideBounds, e, more...)
	}
	if ci := e.ci(); ci != nil && results.Uninformative(ci) {
		return check.estimated(results.CannotTell, e, more...)
	}
	return check.estimated(results.CrossesBound, e, more...)
}

// missed returns a reason for an estimate beyond a bound.
func (check boundCheck) missed(e estimate, side position, more ...results.Value) results.Reason {
	if side == below {
		return check.estimated(results.BelowBound, e, append(more, check.missDistance(*check.bounds.Lower))...)
	}
	return check.estimated(results.AboveBound, e, append(more, check.missDistance(*check.bounds.Upper))...)
}

// suspiciouslyFast returns a reason if a value is better than the good end of two-sided bounds: a wrong
// size, a skipped transfer, a cached buffer or a missing completion is more likely than a faster path.
func (check boundCheck) suspiciouslyFast(where results.ReasonKind) results.Reason {
	end := map[results.ReasonKind]workload.Direction{
		results.BelowBound: workload.Lower, results.AboveBound: workload.Higher,
	}[where]
	if end == "" || check.bounds.Lower == nil || check.bounds.Upper == nil || check.better() != end {
		return results.Reason{}
	}
	return results.Because(results.TooFast)
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
