package gate

import (
	"slices"
	"time"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// applyPolicy writes an outcome into the document. It applies, in this order: the replacement of
// inconclusive after the last analysis, xfail, and severity. A warn assertion warns if it does not hold or
// is inconclusive; its message says which. An info assertion keeps its verdict and counts for nothing
// (results.AssertionVerdict.Standing).
func applyPolicy(a *results.AssertionVerdict, o outcome, started time.Time) {
	o = applyXFail(a.XFail, o, started)
	a.Change = ""
	if o.verdict == results.InconclusiveVerdict {
		a.Change = o.obstacle.change
	}
	if a.Severity == assertion.Warn {
		switch o.verdict {
		case results.Fail, results.XPass:
			o.verdict = results.WarnVerdict
		case results.InconclusiveVerdict:
			o.verdict = results.WarnVerdict
			o.prependReason(results.Because(results.WarnsOnly))
		}
	}
	o.prependEstimate()
	if o.observed != nil {
		o.observed.Noise = wording.Sentence(o.noise)
	}
	a.Verdict, a.Observed, a.Reasons, a.Message, a.Deciding = o.verdict, o.observed, o.reasons,
		wording.Message(o.reasons), 0
	a.Open = a.Open && a.Verdict != results.InconclusiveVerdict // the verdict itself says so
	if a.Verdict == results.InconclusiveVerdict {
		a.Deciding = o.deciding
	}
}

// inconclusiveAs replaces inconclusive by the verdict that the assertion or the session names, and by fail
// after a streak of such sessions. While launches may still follow, or the session was cut short, it
// stays.
func (eval *evaluator) inconclusiveAs(a *results.AssertionVerdict, o outcome) outcome {
	a.Open = false
	if o.verdict != results.InconclusiveVerdict || len(o.undecided) > 0 && !eval.finished {
		return o
	}
	a.Open = true
	policy := eval.doc.Session.Policy()
	sessions := a.OpenBefore + 1
	if a.Severity == assertion.Gate && policy.Streak > 0 && sessions >= policy.Streak {
		o.verdict, o.replaced = results.Fail, true
		o.prependReason(results.Because(results.Streak, results.Count("sessions", sessions, "session")))
		return o
	}
	if as := a.Decide.StandIn(policy); as != "" {
		o.verdict, o.replaced = results.Verdict(as), true
		o.prependReason(results.Because(results.StandsIn, results.Text("verdict", as)))
	}
	return o
}

// applyXFail inverts the verdict of an assertion with xfail, but not one that replaces inconclusive: that shows neither
// that the assertion holds nor that it does not. xfail is valid up to and including its last day,
// by the session's start in UTC, so that judging again gives the same. Without a start it is not valid.
func applyXFail(x *assertion.XFail, o outcome, started time.Time) outcome {
	if x == nil || o.replaced || o.verdict != results.Fail && o.verdict != results.Pass {
		return o
	}
	says := func(kind results.ReasonKind) results.Reason {
		return results.Because(kind, results.Text("until", x.Until), why(x.Why()))
	}
	switch {
	case !x.Counts(started) && o.verdict == results.Pass:
		o.addReasons(says(results.ExpectationUnneeded))
	case !x.Counts(started):
		o.addReasons(says(results.ExpectationExpired))
	case o.beyondCeiling:
		o.addReasons(results.Because(results.BeyondCeiling, results.Number("accepted", x.Ceiling, "share"),
			why(x.Why())))
	case o.verdict == results.Fail:
		o.verdict = results.XFail
		o.prependReason(says(results.ExpectedToFail))
	default:
		o.verdict = results.XPass
		o.prependReason(says(results.HoldsUnexpectedly))
	}
	return o
}

// beyondCeiling reports whether an expected failure is certainly larger than its ceiling accepts: the assertion fails
// with bounds that are moved by the ceiling, too. Those of a trend are its tolerance; statements without a bound have
// no ceiling.
func (eval *evaluator) beyondCeiling(m item, o outcome) bool {
	x := m.a.XFail
	if x == nil || x.Ceiling == 0 || o.verdict != results.Fail || m.a.Subject == nil && len(m.a.Parts) == 0 {
		return false
	}
	wider := *m.a
	wider.Bounds, wider.Parts = m.a.Bounds.Widened(x.Ceiling), slices.Clone(m.a.Parts)
	for i := range wider.Parts {
		wider.Parts[i].Bounds = wider.Parts[i].Bounds.Widened(x.Ceiling)
	}
	if t := m.a.Trend; t != nil {
		wider.Trend = &assertion.Trend{Axis: t.Axis, Direction: t.Direction, Tolerance: t.Tolerance + x.Ceiling}
	}
	return eval.judgeAs(item{c: m.c, a: &wider}, max(eval.family[m.a], 1)).verdict == results.Fail
}
