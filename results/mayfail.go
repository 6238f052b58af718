package results

import (
	"time"

	"weir/assertion"
)

// MayFail is why a case may be an error or miss its assertions, with what the gate said of it.
type MayFail struct {
	assertion.XFail
	// Verdict is XFail of an error or a miss that is excused, XPass of a case that has none, and "" where
	// neither counts: the day has passed, or the case did not run to its end.
	Verdict Verdict `json:"verdict,omitempty" doc:"xfail: an error, or an assertion that does not hold, which is excused; xpass: the case works although it is expected not to." schema:"enum=xfail|xpass"`
	Message string  `json:"message,omitempty"`
}

// MayBeError says whether errors of the case are excused in a session that started then.
func (c *Case) MayBeError(started time.Time) bool {
	return c.MayFail != nil && c.MayFail.Counts(started)
}

// Excused says whether the gate called the case an error, or one that misses an assertion, that is expected.
func (c *Case) Excused() bool { return c.MayFail != nil && c.MayFail.Verdict == XFail }

// Unexpected says whether the gate found that the case works although it is expected not to.
func (c *Case) Unexpected() bool { return c.MayFail != nil && c.MayFail.Verdict == XPass }

// CommandCounts says whether a command failed and the session with it. A setup that failed
// is an error of its run's cases, which may be excused.
func (d *Document) CommandCounts(c Command) bool {
	if !c.Counts() || c.Stage != "setup" || c.Scope != "run" {
		return c.Counts()
	}
	excused := false
	for _, of := range d.Cases {
		if of.Run == c.Of && of.Status == Error {
			if !of.MayBeError(d.Session.Started) {
				return true
			}
			excused = true
		}
	}
	return !excused
}
