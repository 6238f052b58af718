package dsl

import (
	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/dsl/expression"
)

// Matches says whether the assertion is about this case, by its where clause.
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

// Lower gives the assertion for one case. The cases of a trend are the planner's
// to add.
func (a *Assert) Lower(s Scope) (assertion.Assertion, hcl.Diagnostics) {
	out, err := a.compiled.Lower(a.within(s))
	return a.finish(out, err)
}

// LowerOver gives an assertion over several cases, whose reach is Over: all that
// satisfy its where clause and agree on every axis that is not in OverAxes.
func (a *Assert) LowerOver(cases []Scope) (assertion.Assertion, hcl.Diagnostics) {
	own := make([]Scope, len(cases))
	for i, s := range cases {
		own[i] = a.within(s)
	}
	out, err := a.compiled.LowerOver(own)
	return a.finish(out, err)
}

// finish adds what the author said about the judgement.
func (a *Assert) finish(out assertion.Assertion, err *expression.Error) (assertion.Assertion, hcl.Diagnostics) {
	if err != nil {
		return assertion.Assertion{}, hcl.Diagnostics{a.place.diagnostic("Invalid assertion", err)}
	}
	out.Name, out.Severity = a.Name, a.Severity
	out.File, out.Line = a.Range.Filename, a.Range.Start.Line
	out.Halo, out.Multiple, out.Decide, out.XFail = a.Halo, a.Multiple, a.Decide, a.XFail
	return out, nil
}

// Where is the condition that chooses cases; nil for all of them.
func (a *Assert) Where() *Condition { return a.compiled.Where() }

// Gains says whether the assertion is about gains of variants, of which their baseline has none.
func (a *Assert) Gains() bool { return a.compiled.Gains() }

// Reach says what one lowered form of the assertion is about.
func (a *Assert) Reach() expression.Reach { return a.compiled.Reach() }

// OverAxes are the axes that an assertion of reach Over aggregates over; none
// means all.
func (a *Assert) OverAxes() []string { return a.compiled.OverAxes() }

// Uses are the names that the assertion depends on. Its runs are named as the
// scenario has them.
func (a *Assert) Uses() expression.Uses {
	uses := a.compiled.Uses()
	var runs []string
	for _, r := range a.mentioned() {
		runs = append(runs, r.Name)
	}
	uses.Runs = runs
	return uses
}

// mentioned are the other runs that the assertion speaks of.
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

// within lets an expression find cases by the names that its own file gives the
// runs: an included file does not know its prefix.
func (a *Assert) within(s Scope) Scope {
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
