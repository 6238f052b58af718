// The limit on the time of planning.

package planner

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

// deadlineExceeded reports once that the deadline for planning has passed.
func (t *Table) deadlineExceeded(at hcl.Range) bool {
	if t.expired || !t.scenario.Deadline.At(at) {
		return t.expired
	}
	t.expired = true
	d := t.scenario.Deadline.Error()
	d.Extra = tooMuchHint
	t.report(d)
	return true
}

const tooMuchHint dsl.Hint = "Reduce the cases of the sweep or of the assertion (with where), divide the scenario, or raise --plan-timeout."

// addCases adds the cases of a run, and refuses runs with too many cases together.
func (t *Table) addCases(r *dsl.Run, rows float64) bool {
	if t.cases += int(rows); t.cases > dsl.MostCases {
		t.fail(r.Range, "Too many cases", fmt.Sprintf("With run %q the runs have %d cases together; the limit is %d, regardless of max_cases.",
			r.Name, t.cases, dsl.MostCases), "Shorten a sweep, or divide the scenario.")
		return false
	}
	return true
}
