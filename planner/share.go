package planner

import (
	"fmt"
	"math"
	"slices"

	"weir/assertion"
	"weir/dsl"
	"weir/workload"
)

// showable refuses a share of launches that the run has too few of to show, even if none
// fails: the assertion could be refuted, and never hold. What its author has stand in
// for inconclusive makes it one about refuting alone.
func (t *Table) showable(s *sheet, a *dsl.Assert, lowered assertion.Assertion) bool {
	if a.Severity == assertion.Info || lowered.Decide.StandIn(t.scenario.Inconclusive) != "" {
		return true
	}
	confidence := assertion.Confidence
	if lowered.Decide != nil && lowered.Decide.Confidence > 0 {
		confidence = lowered.Decide.Confidence
	}
	bands := lowered.Parts
	if lowered.Subject != nil {
		bands = append(bands, assertion.Part{Subject: lowered.Subject, Bounds: lowered.Bounds})
	}
	for _, b := range bands {
		if b.Subject.Op != assertion.Metric || !workload.OfCase(b.Subject.Metric) || b.Bounds.Lower == nil ||
			!(*b.Bounds.Lower > 0) {
			continue
		}
		looks := s.run.Launches
		last := looks[len(looks)-1]
		shows := func(n int) bool {
			return unfailing(*b.Bounds.Lower, assertion.AtLook(confidence, looks, n)) <= float64(n)
		}
		if !slices.ContainsFunc(looks, shows) {
			need := max(unfailing(*b.Bounds.Lower, confidence), float64(last+1))
			t.fail(a.Range, "Too few launches",
				fmt.Sprintf("%d launches cannot show that %s of them or more succeed, even if none fails.", last,
					workload.Text(*b.Bounds.Lower)),
				dsl.Hint(fmt.Sprintf("Ask for %.0f launches or more, for less, or with decide: {on_inconclusive: pass} for no more than that it is not refuted.",
					need)))
			return false
		}
	}
	return true
}

// unfailing is how many launches show a share if none of them fails: as many as make
// share^n, their probability if it were no more, half of what the interval leaves out
// (gate has the interval and its source).
func unfailing(share, confidence float64) float64 {
	return math.Ceil(math.Log((1-confidence)/2) / math.Log(share))
}
