package gate

import (
	"fmt"
	"time"

	"weir/assertion"
	"weir/results"
)

// settle writes an outcome into the document. What an assertion says of itself is
// applied in this order: what stands in for inconclusive after the last look, the
// expectation that its run or it fails, its severity. A warn assertion warns, whether it does
// not hold or could not be shown to hold; its message says which. An info
// assertion keeps the verdict that the rules give and counts for nothing
// (results.AssertionVerdict.Standing).
func settle(a *results.AssertionVerdict, o outcome, started time.Time) {
	o = expected(a.XFail, o, started)
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
			o.message = "inconclusive: " + o.message
		}
	}
	a.Verdict, a.Observed, a.Message, a.Deciding = o.verdict, o.observed, o.message, 0
	a.Open = a.Open && a.Verdict != results.InconclusiveVerdict // which says it itself
	if a.Verdict == results.InconclusiveVerdict {
		a.Deciding = o.deciding
	}
}

// standIn replaces inconclusive by the verdict that the assertion or the session names for it, and by a
// failure after a streak of such sessions. While more launches may decide, as in a session that was cut
// short, it stays.
func (eval *evaluator) standIn(a *results.AssertionVerdict, o outcome) outcome {
	a.Open = false
	if o.verdict != results.InconclusiveVerdict || len(o.undecided) > 0 && !eval.over {
		return o
	}
	a.Open = true
	policy := eval.doc.Session.Policy()
	sessions := a.OpenBefore + 1
	if a.Severity == assertion.Gate && policy.Streak > 0 && sessions >= policy.Streak {
		o.verdict = results.Fail
		o.message = fmt.Sprintf("inconclusive in %d sessions in a row, which counts as fail: %s", sessions, o.message)
		return o
	}
	if as := a.Decide.StandIn(policy); as != "" {
		o.verdict = results.Verdict(as)
		o.message = fmt.Sprintf("inconclusive, which counts as %s: %s", as, o.message)
	}
	return o
}

// expected turns the verdict of an assertion that is known not to hold. It counts
// up to and with its last day, by the session's start in UTC, so that judging
// again gives the same; a session without a start has no day on which it counts.
func expected(x *assertion.XFail, o outcome, started time.Time) outcome {
	if x == nil || o.verdict != results.Fail && o.verdict != results.Pass {
		return o
	}
	why := fmt.Sprintf("until %s (%s)", x.Until, x.Reason)
	switch {
	case !x.Counts(started):
		o.message += "; it was expected to fail only " + why + ": this has expired"
	case o.verdict == results.Fail:
		o.verdict = results.XFail
		o.message = "expected to fail " + why + ": " + o.message
	default:
		o.verdict = results.XPass
		o.message = "expected to fail " + why + ", but it holds: " + o.message
	}
	return o
}
