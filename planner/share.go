// Assertions on shares of launches.

package planner

import (
	"fmt"
	"math"
	"slices"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// checkShare refuses a share of launches that cannot be shown with the run's number of launches even
// if none fails. It allows decide.on_inconclusive other than inconclusive, since the assertion then
// only tests whether the share is refuted.
func (t *Table) checkShare(run *runTable, a *dsl.Assert, lowered assertion.Assertion) bool {
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
		looks := run.run.Launches
		last := looks[len(looks)-1]
		shows := func(n int) bool {
			return launchesToShow(*b.Bounds.Lower, assertion.ConfidenceAt(confidence, looks, n)) <= float64(n)
		}
		if !slices.ContainsFunc(looks, shows) {
			need := max(launchesToShow(*b.Bounds.Lower, confidence), float64(last+1))
			t.fail(a.Range, "Too few launches",
				fmt.Sprintf("%d launches cannot show a share of %s or more, even if none fails.", last,
					option.Text(*b.Bounds.Lower)),
				dsl.Hint(fmt.Sprintf("Use %.0f launches or more, a lower bound, or decide: {on_inconclusive: pass} to pass unless it is refuted.",
					need)))
			return false
		}
	}
	return true
}

// launchesToShow returns how many launches show a share if none of them fails: the number with share^n,
// their probability at that share, of half of what the interval leaves out (see package gate).
func launchesToShow(share, confidence float64) float64 {
	return math.Ceil(math.Log((1-confidence)/2) / math.Log(share))
}
