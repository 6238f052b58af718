package planner

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// A file of some kilobytes can ask for years of planning: a thousand assertions,
// each over all of ten thousand cases. What is worked out for single cases is
// therefore counted before it is done, and too much of it is refused.

// The bounds of a plan. One unit of work is about 15 ns and a few bytes, so that
// a sweep within the default max_cases is planned in about a second at most.
const (
	mostTogether = 100_000 // cases of all runs that leave max_cases at its default
	mostWork     = 40_000_000
	workForCase  = 2_000 // units more for each case beyond mostTogether, which somebody asked for
	mostEdges    = 2_000_000
	edgesForCase = 100
	mostSame     = 50 // errors after which assertions are not worked out any more
)

// Units of work, as measured.
const (
	conditionWork  = 64  // and one for each character
	settingWork    = 100 // and one for each character of the value
	expressionWork = 45  // for each character of an option's expression
	lowerWork      = 300 // of an assertion for one case
	leafWork       = 250 // of a case in an assertion over several
	copyWork       = 100 // of an assertion that a class of cases has
	keyWork        = 60  // of a case in a trend
)

// spend takes units of work. It is false, and has been reported once, if so much is
// not left: then the work must not be done.
func (t *Table) spend(units int, at hcl.Range) bool {
	if t.exhausted {
		return false
	}
	if t.work < units {
		t.work, t.exhausted = 0, true
		t.fail(at, "Plan too large", "Working this out for all cases that it concerns would take too long.", "Give the sweep fewer cases, choose cases by where, aggregate over fewer of them, or divide the scenario.")
		return false
	}
	t.work -= units
	return true
}

// connectable takes the edges of a need, counted between cases.
func (t *Table) connectable(s, up *sheet, lists facet[*needList], at hcl.Range) bool {
	edges := 0
	for i := range s.live {
		edges += len(lists.at(i).cases)
	}
	if t.edges < edges {
		t.edges = 0
		t.fail(at, "Too many needs", fmt.Sprintf("The %d cases of run %q need so many of the %d cases of run %q that the plan would have %d edges.", s.live, s.run.Name, up.live, up.run.Name, edges), "Give both runs a common axis, or have a run of one case between them.")
		return false
	}
	t.edges -= edges
	return true
}

// inAll adds the cases of a run, and refuses runs that are too many in sum: fewer
// are allowed of those where the author has not raised max_cases.
func (t *Table) inAll(r *dsl.Run, rows float64) bool {
	if t.cases += int(rows); t.cases > dsl.MostCases {
		t.fail(r.Range, "Too many cases", fmt.Sprintf("With run %q the runs have %d cases together; at most %d are allowed, whatever max_cases says of each.", r.Name, t.cases, dsl.MostCases), "Shorten a sweep, or divide the scenario.")
		return false
	}
	if r.Sweep.MaxCases <= dsl.DefaultMaxCases {
		if t.modest += int(rows); t.modest > mostTogether {
			t.fail(r.Range, "Too many cases", fmt.Sprintf("With run %q the runs that leave max_cases as it is have %d cases together; at most %d are allowed.", r.Name, t.modest, mostTogether), "Shorten a sweep, or raise max_cases where many cases are meant.")
			return false
		}
	}
	t.work = mostWork + workForCase*max(0, t.cases-mostTogether)
	t.edges = mostEdges + edgesForCase*t.cases
	return true
}
