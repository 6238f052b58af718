package planner

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// These bounds protect from a sweep or a need that was not meant. How long planning may
// take is the deadline's business.
const (
	mostTogether = 100_000 // cases of all runs that leave max_cases at its default
	mostEdges    = 2_000_000
	edgesForCase = 100
	mostSame     = 50 // errors after which assertions are not worked out any more
)

// late says whether planning has taken longer than allowed, which it reports once.
func (t *Table) late(at hcl.Range) bool {
	if t.isLate || !t.scenario.Deadline.At(at) {
		return t.isLate
	}
	t.isLate = true
	d := t.scenario.Deadline.Error()
	d.Extra = tooMuch
	t.report(d)
	return true
}

const tooMuch dsl.Hint = "Give the sweep fewer cases, choose cases by where, aggregate over fewer of them, divide the scenario, or allow more by --plan-timeout."

// connectable takes the edges of a need, counted between cases.
func (t *Table) connectable(s, up *sheet, lists facet[*needList], at hcl.Range) bool {
	edges := 0
	for i := range s.live {
		edges += len(lists.at(i).cases)
	}
	if t.edges < edges {
		t.edges = 0
		t.fail(at, "Too many needs", fmt.Sprintf("The %d cases of run %q need so many of the %d cases of run %q that the plan would have %d edges.",
			s.live, s.run.Name, up.live, up.run.Name, edges),
			"Give both runs a common axis, or have a run of one case between them.")
		return false
	}
	t.edges -= edges
	return true
}

// inAll adds the cases of a run, and refuses runs that are too many in sum: fewer
// are allowed of those where the author has not raised max_cases.
func (t *Table) inAll(r *dsl.Run, rows float64) bool {
	if t.cases += int(rows); t.cases > dsl.MostCases {
		t.fail(r.Range, "Too many cases", fmt.Sprintf("With run %q the runs have %d cases together; at most %d are allowed, whatever max_cases says of each.",
			r.Name, t.cases, dsl.MostCases), "Shorten a sweep, or divide the scenario.")
		return false
	}
	if r.Sweep.MaxCases <= dsl.DefaultMaxCases {
		if t.modest += int(rows); t.modest > mostTogether {
			t.fail(r.Range, "Too many cases", fmt.Sprintf("With run %q the runs that leave max_cases as it is have %d cases together; at most %d are allowed.",
				r.Name, t.modest, mostTogether), "Shorten a sweep, or raise max_cases where many cases are meant.")
			return false
		}
	}
	t.edges = mostEdges + edgesForCase*t.cases
	return true
}
