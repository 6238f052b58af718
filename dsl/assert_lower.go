// Assertions for the planner: lowered for a case or for several cases.

package dsl

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/results/assertion"
)

// Matches reports whether the where clause of the assertion admits the case.
func (a *Assert) Matches(s Scope) (bool, hcl.Diagnostics) {
	where := a.compiled.Where()
	if where == nil {
		return true, nil
	}
	ok, err := where.Eval(s)
	if err != nil {
		return false, hcl.Diagnostics{diagnostic(a.Range, "Invalid condition", sentence(err.Error()), "")}
	}
	return ok, nil
}

// Lower returns the assertion for one case. The planner adds the cases of a trend.
func (a *Assert) Lower(s Scope) (assertion.Assertion, hcl.Diagnostics) {
	out, err := a.compiled.Lower(a.withRunNames(s))
	return a.complete(out, err)
}

// LowerOver returns an assertion of grouping OverCases: cases are all that satisfy its where clause and
// agree on every axis that is not in OverAxes.
func (a *Assert) LowerOver(cases []Scope) (assertion.Assertion, hcl.Diagnostics) {
	own := make([]Scope, len(cases))
	for i, s := range cases {
		own[i] = a.withRunNames(s)
	}
	out, err := a.compiled.LowerOver(own)
	return a.complete(out, err)
}

// complete adds halo, multiple, decide and xfail.
func (a *Assert) complete(out assertion.Assertion, err *expression.Error) (assertion.Assertion, hcl.Diagnostics) {
	if err != nil {
		return assertion.Assertion{}, hcl.Diagnostics{a.place.diagnostic("Invalid assertion", err)}
	}
	out.Name, out.Severity = a.Name, a.Severity
	out.File, out.Line = a.Range.Filename, a.Range.Start.Line
	out.Halo, out.Multiple, out.Decide, out.XFail = a.Halo, a.Multiple, a.Decide, a.XFail
	return out, nil
}

// Where is the condition that selects cases; nil selects all.
func (a *Assert) Where() *Condition { return a.compiled.Where() }

// Gains reports whether the assertion is about gains of variants. Baseline variants have none.
func (a *Assert) Gains() bool { return a.compiled.Gains() }

// Grouping tells what one lowered form of the assertion covers.
func (a *Assert) Grouping() expression.Grouping { return a.compiled.Grouping() }

// OverAxes are the axes that an assertion of grouping OverCases aggregates over; none means all.
func (a *Assert) OverAxes() []string { return a.compiled.OverAxes() }

// Uses are the names that the assertion depends on. Runs have their names of the scenario, with
// prefixes.
func (a *Assert) Uses() expression.Uses {
	uses := a.compiled.Uses()
	var runs []string
	for _, r := range a.mentioned() {
		runs = append(runs, r.Name)
	}
	uses.Runs = runs
	return uses
}

// mentioned are the other runs that the assertion names.
func (a *Assert) mentioned() []*Run {
	var out []*Run
	for _, name := range a.compiled.Uses().Runs {
		if r := a.runs[name]; r != nil {
			out = append(out, r)
		}
	}
	return out
}

// TrendAxis is the axis of a trend, otherwise "".
func (a *Assert) TrendAxis() string { return a.compiled.TrendAxis() }

// withRunNames resolves run names as the file of the assertion has them: an included file does not know
// its prefix.
func (a *Assert) withRunNames(s Scope) Scope {
	if s.Cases != nil {
		s.Cases = localCases{s.Cases, a.runs}
	}
	return s
}

type localCases struct {
	expression.Cases
	runs map[string]*Run
}

func (c localCases) Find(run string, at map[string]string, where *Condition) []string {
	if r := c.runs[run]; r != nil {
		run = r.Name
	}
	return c.Cases.Find(run, at, where)
}
