// Limits on the size of a plan.

package planner

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

// These limits protect from unintended sweeps and needs. The deadline limits the time of planning.
const (
	mostTogether = 100_000 // cases of all runs that leave max_cases at its default
	mostEdges    = 2_000_000
	edgesForCase = 100
	mostSame     = 50 // errors after which assertions are not evaluated any more
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

// addEdges counts the edges between cases that a need creates, and refuses too many.
func (t *Table) addEdges(run *runTable, n need) bool {
	edges := 0
	for _, r := range run.rows {
		edges += len(n.of(r).cases)
	}
	if t.edges < edges {
		t.edges = 0
		t.fail(n.Range, "Too many needs", fmt.Sprintf("The %d cases of run %q need the %d cases of run %q: the plan would have %d edges.",
			len(run.rows), run.run.Name, len(n.upstream.rows), n.Run, edges),
			"Give both runs a common axis, or put a run with one case between them.")
		return false
	}
	t.edges -= edges
	return true
}

// addCases adds the cases of a run, and refuses runs with too many cases together. The limit is lower
// for runs with the default max_cases.
func (t *Table) addCases(r *dsl.Run, rows float64) bool {
	if t.cases += int(rows); t.cases > dsl.MostCases {
		t.fail(r.Range, "Too many cases", fmt.Sprintf("With run %q the runs have %d cases together; the limit is %d, regardless of max_cases.",
			r.Name, t.cases, dsl.MostCases), "Shorten a sweep, or divide the scenario.")
		return false
	}
	if r.Sweep.MaxCases <= dsl.DefaultMaxCases {
		if t.byDefault += int(rows); t.byDefault > mostTogether {
			t.fail(r.Range, "Too many cases", fmt.Sprintf("With run %q the runs without max_cases have %d cases together; the limit is %d.",
				r.Name, t.byDefault, mostTogether), "Shorten a sweep, or set max_cases in runs with many cases.")
			return false
		}
	}
	t.edges = mostEdges + edgesForCase*t.cases
	return true
}
