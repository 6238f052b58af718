package gate

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// judge finds the changes, judges regressions, and sets the verdict of the comparison.
func (c *comparer) judge() {
	c.find()
	c.reportShifts()
	if c.options.Holm {
		c.shareBudget()
	}
	codes := []int{ExitPassed}
	for _, x := range c.contrasts {
		x.among = len(c.contrasts)
		x.judge()
	}
	for _, e := range c.out.Effects {
		switch e.Verdict {
		case results.EffectError:
			codes = append(codes, ExitExecution)
		case results.Regression:
			codes = append(codes, ExitFailed)
		case results.Unclear:
			codes = append(codes, ExitInconclusive)
		}
	}
	c.out.ExitCode = Worst(codes...)
}

// find marks the changes that are significant. Changes with unknown variance between sessions must be so also if
// these vary by assumedSessions, and do not count among the tests of the others.
func (c *comparer) find() {
	var known, assumed []*contrast
	for _, x := range c.contrasts {
		if x.assumed {
			assumed = append(assumed, x)
		} else {
			known = append(known, x)
		}
	}
	discover(known)
	discover(assumed)
	for _, xs := range c.estimated {
		mirrored(xs, len(c.estimated))
		withoutFound(xs)
	}
	for _, x := range c.contrasts {
		if change := x.effect.Change; change != nil {
			change.Found = change.Found && !x.drifting && (!x.assumed || x.foundApart())
		}
	}
}

// discover controls the false discovery rate at 1 − confidence by the step-up procedure of Benjamini and
// Hochberg (Journal of the Royal Statistical Society B 57, 1995), with adjusted p-values q_(i) = min over
// j ≥ i of m·p_(j)/j.
func discover(all []*contrast) {
	var sorted []*results.Change
	for _, x := range all {
		if x.effect.Change.P != nil {
			sorted = append(sorted, x.effect.Change)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *results.Change) int { return cmp.Compare(*a.P, *b.P) })
	q := 1.0
	for i := len(sorted) - 1; i >= 0; i-- {
		q = quantity.Round(min(q, *sorted[i].P*float64(len(sorted))/float64(i+1)))
		own := q
		sorted[i].Q = &own
		sorted[i].Found = own <= quantity.Round(1-results.Confidence)
	}
}

// shareBudget divides the error budget of regressions among all judged effects, by Holm's procedure as for
// families (family.go).
func (c *comparer) shareBudget() {
	judged := 0
	var limits []int
	for _, x := range c.contrasts {
		if x.change == nil || x.effect.Better == string(workload.Neither) {
			continue
		}
		judged++
		if x.verdictAt(x.at, 1) != results.Regression {
			continue
		}
		limits = append(limits, sort.Search(len(c.contrasts),
			func(i int) bool { return x.verdictAt(x.at, i+1) != results.Regression }))
	}
	left := stepDown(limits, judged)
	for _, x := range c.contrasts {
		x.claim.levels = x.claim.forFailing(left)
	}
}

// verdictAt is the verdict of an estimate alone, with the error budget of regressions divided by share.
func (x *contrast) verdictAt(at interval, share int) results.EffectVerdict {
	check := x.claim
	check.levels = check.forFailing(share)
	switch check.locate(at) {
	case inside:
		return results.NoRegression
	case below, above:
		return results.Regression
	}
	return results.Unclear
}

// judge sets the verdict with its reasons. A regression must be a found change: among ten thousand
// comparisons some exceed any margin by chance. Outliers are never dropped, but a verdict that depends on
// them is unclear.
func (x *contrast) judge() {
	e := x.effect
	x.addReasons(x.changed())
	if e.Change.CI != nil {
		x.addReasons(x.method...)
	}
	switch {
	case e.Better == string(workload.Neither):
		e.Verdict = results.Reported
		x.addReasons(results.Because(results.NoDirection))
		return
	case x.change == nil:
		e.Verdict = results.Unclear
		x.addReasons(results.Because(results.OneLaunchSide))
		return
	}
	verdict := x.verdictAt(x.at, 1)
	e.Verdict = verdict
	if x.decideDespiteOutliers() {
		return
	}
	x.addReasons(x.fromShiftReason())
	switch together := x.shiftVerdictReason(verdict); {
	case together.Kind == results.BeyondTogether && x.beyondAssumed():
		x.setFound()
		x.addReasons(x.marginReason(results.WorseThanMargin, assumedValue()))
	case !together.None():
		e.Verdict = results.Unclear
		x.addReasons(together)
	case verdict == results.Regression && x.assumed && x.verdictAt(x.apart, 1) != verdict:
		e.Verdict = results.Unclear
		x.addReasons(x.marginReason(results.BeyondSessions, x.assumption()...))
	case verdict == results.Regression && !e.Change.Found:
		e.Verdict = results.Unclear
		x.addReasons(x.marginReason(x.otherCauses()))
	case verdict == results.Regression:
		x.addReasons(x.marginReason(results.WorseThanMargin, x.assumption()...))
	case verdict == results.Unclear:
		x.addReasons(x.marginReason(results.CrossesMargin), x.claim.familyNote(x.at, crossing))
	case x.improved():
		x.setFound()
		e.Verdict = results.Improved
	default:
		x.addReasons(x.marginReason(results.WithinMargin))
	}
	x.addReasons(x.modes...)
	if x.rest == nil {
		return
	}
	x.addReasons(x.marked)
	if x.verdictAt(x.rest, 1) != verdict {
		e.Verdict = results.Unclear
		x.addReasons(results.Because(results.OutliersDecide))
	}
}

// setFound marks a common change as found, also in the first reason.
func (x *contrast) setFound() {
	x.effect.Change.Found = true
	x.effect.Reasons[0] = x.changed()
}

// assumption is how much sessions are assumed to vary, if that is unknown.
func (x *contrast) assumption() []results.Value {
	if !x.assumed {
		return nil
	}
	return []results.Value{assumedValue()}
}

func assumedValue() results.Value { return results.Number("assumed", assumedSessions, "share") }

// beyondAssumed reports whether a common change of many cases is a regression also if it is a difference between
// sessions that vary by assumedSessions, as for a few cases: more cases do not make it less certain.
func (x *contrast) beyondAssumed() bool { return x.verdictAt(x.assuming(), 1) == results.Regression }

// assuming is the interval of the change if sessions vary by assumedSessions.
func (x *contrast) assuming() interval {
	return func(confidence float64) estimate {
		return (*combinedFloor)(nil).widen(x.change, x.sessions.assumed(), confidence)
	}
}

// improved reports whether the change is an improvement: found, with an interval that excludes no change, and
// for the better relative to the shift, too. A shift beyond what sessions are assumed to do is a change itself.
// Beside a shift, found means different from it, and all cases share the error of being different from none.
func (x *contrast) improved() bool {
	if x.shift == nil {
		return x.effect.Change.Found && x.forTheBetter(x.at, results.Confidence)
	}
	confidence := results.Confidence
	if x.shift.significant() {
		confidence = 1 - (1-results.Confidence)/float64(x.shift.n)
	}
	better := x.effect.Change.Found && x.forTheBetter(x.at, confidence)
	if x.shift.exceedsSessions() {
		return better || x.forTheBetter(x.assuming(), results.Confidence)
	}
	return better && (x.fromShiftLog() > 0) == (x.effect.Better == string(workload.Higher))
}

// forTheBetter reports whether the interval of the change lies on the better side of no change.
func (x *contrast) forTheBetter(at interval, confidence float64) bool {
	null, e := 1., at(confidence)
	if x.effect.Additive {
		null = 0
	}
	if x.effect.Better == string(workload.Higher) {
		return e.lo > null
	}
	return e.hi < null
}

// shiftVerdictReason says why a change that may be the common shift is unclear. The shift is either a real
// change or the session; a regression must hold in both cases: beyond the margin absolutely, and relative
// to the shift. If the shift is within the margin, the absolute change decides. A case that is not worse
// passes, unless all others improved by more than the margin, as sessions may, and it is significantly worse
// than they.
func (x *contrast) shiftVerdictReason(verdict results.EffectVerdict) results.Reason {
	if x.shift == nil {
		return results.Reason{}
	}
	e, far := x.effect, x.shift.exceedsSessions()
	switch worse, better := x.shift.beyond(e.Better, x.margin); {
	case verdict == results.Regression && worse && x.verdictAt(x.fromShift(), 1) != results.Regression:
		return x.marginReason(results.BeyondTogether, results.Count("cases", x.shift.together, "case"))
	case verdict == results.NoRegression && better && !far && e.Change.Found &&
		x.verdictAt(x.fromShift(), 1) == results.Regression:
		return x.marginReason(results.WorseThanOthers, results.Count("cases", x.shift.together, "case"))
	}
	return results.Reason{}
}

// fromShiftReason is how a case differs from the shift, if it does.
func (x *contrast) fromShiftReason() results.Reason {
	if x.shift == nil || !x.shift.significant() || !x.effect.Change.Found {
		return results.Reason{}
	}
	d := x.fromShift()(results.Confidence)
	return results.Because(results.FromShift, results.Number("change", d.center, ""), results.Number("change_low",
		d.lo, ""),
		results.Number("change_high", d.hi, ""))
}

// marginReason is a reason with the margin.
func (x *contrast) marginReason(kind results.ReasonKind, more ...results.Value) results.Reason {
	r := results.Because(kind, append([]results.Value{results.Number("margin", x.margin, "share")}, more...)...)
	if x.effect.Additive {
		r.Values = append(r.Values, results.Number("allowed", x.margin*math.Abs(x.effect.Base.Value), x.effect.Unit))
	}
	return r
}

// changed is the change with the estimates of both sides.
func (x *contrast) changed() results.Reason {
	e := x.effect
	kind := results.Changed
	if e.Additive {
		kind = results.ChangedBy
	}
	r := results.Because(kind, results.Count("pairs", e.Pairs, "pair"))
	add := func(name string, v float64, ci *[2]float64, unit string) {
		r.Values = append(r.Values, results.Number(name, v, unit))
		if ci != nil {
			r.Values = append(r.Values, results.Number(name+"_low", ci[0], unit), results.Number(name+"_high", ci[1],
				unit))
		}
	}
	add("base", e.Base.Value, e.Base.CI, e.Unit)
	add("new", e.New.Value, e.New.CI, e.Unit)
	unit := ""
	if e.Additive {
		unit = e.Unit
	}
	add("change", e.Change.Value, e.Change.CI, unit)
	r.Values = append(r.Values, results.Count("base_n", e.Base.N, ""), results.Count("new_n", e.New.N, "launch"))
	if e.Change.Found {
		r.Values = append(r.Values, results.Text("found", "yes"))
	}
	return r
}

// addReasons adds reasons to the effect.
func (x *contrast) addReasons(all ...results.Reason) {
	for _, r := range all {
		if !r.None() {
			x.effect.Reasons = append(x.effect.Reasons, r)
		}
	}
	x.effect.Message = wording.Message(x.effect.Reasons)
}

// otherCauses is what may explain a change beyond the margin, other than a real one.
func (x *contrast) otherCauses() results.ReasonKind {
	if x.drifting {
		return results.BeyondByDrift
	}
	return results.BeyondByChance
}
