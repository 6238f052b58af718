// Step assert: assertions of each case.

package planner

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/results/assertion"
)

// caseAssertions is the list of lowered assertions of a case, with its part of the case id.
type caseAssertions struct {
	assertion.Assertion
	judged string
}

// assertionList are the assertions that some cases share.
type assertionList struct {
	list   []assertion.Assertion
	judged []byte // the encoded assertions, as a part of ids
}

// assert attaches the assertions of each run to the cases that they match.
func assert(t *Table) {
	if t.diags.HasErrors() {
		return // scopes need resolved options, and one error is enough
	}
	find := newFinder(t)
	for _, run := range t.runs {
		for _, a := range run.run.Asserts {
			switch a.Grouping() {
			case dsl.AlongAxis:
				t.along(run, a, find)
			case dsl.OverCases:
				t.over(run, a, find)
			default:
				t.eachCase(run, a, find)
			}
		}
		if t.diags.HasErrors() {
			continue
		}
		run.assertedBy = sorted(run.assertedBy)
		of := byAxes(run, run.assertedBy, t.assertionList)
		for _, r := range run.rows {
			r.judged = of(r)
		}
	}
}

// scope is the row as conditions and assertions see it.
func (r *row) scope() dsl.Scope {
	out := dsl.Scope{Options: r.options(), Axes: map[string]any{}, Texts: r.texts(r.allAxes()), Key: r.key()}
	for axis, a := range r.run.Axes {
		out.Axes[a.Name] = r.value(axis).Value
	}
	return out
}

func (r *row) scopeIn(find *finder) dsl.Scope {
	out := r.scope()
	out.Cases = find
	return out
}

// axesOfAssertion returns the axes on which an assertion depends. Cases with the same values on them share
// one lowering.
func (t *Table) axesOfAssertion(run *runTable, a *dsl.Assert) []int {
	uses := a.Uses()
	if uses.Others || uses.Baseline {
		return run.allAxes()
	}
	axes := run.axesOf(uses.Knobs...)
	for _, name := range uses.Runs {
		if up := t.table(name); up != nil {
			own, _ := sharedAxes(run.run, up.run)
			axes = append(axes, own...)
		}
	}
	return sorted(axes)
}

// eachCase lowers an assertion for the cases that it matches.
func (t *Table) eachCase(run *runTable, a *dsl.Assert, find *finder) {
	axes := t.axesOfAssertion(run, a)
	matches, failed := 0, false
	of := byAxes(run, axes, func(r *row) *caseAssertions {
		if failed || t.deadlineExceeded(a.Range) {
			failed = true
			return nil
		}
		scope := r.scopeIn(find)
		ok, diags := a.Matches(scope)
		if t.report(diags...); diags.HasErrors() {
			failed = true
			return nil
		}
		if !ok {
			return nil
		}
		matches++
		lowered, diags := a.Lower(scope)
		t.report(diags...)
		if failed = diags.HasErrors() || !t.checkShare(run, a, lowered); failed {
			return nil
		}
		return &caseAssertions{lowered, lowered.Key()}
	})
	switch {
	case failed:
	case matches == 0:
		t.refuseNoMatch(run, a)
	default:
		t.checkRuledOut(run, a, axes, of, find)
		t.warnTransport(run, a, axes, of)
		t.warnBareTime(run, a, axes, of)
		t.warnShare(run, a, axes, of)
		t.warnGain(a)
		t.warnMetricMeaning(run, a, axes, of)
		t.warnImplausible(run, a, axes, of)
	}
	run.asserted = append(run.asserted, of)
	run.assertedBy = append(run.assertedBy, axes...)
}

// refuseNoMatch refuses an assertion that matches no case, since it could never fail.
func (t *Table) refuseNoMatch(run *runTable, a *dsl.Assert) {
	if len(run.rows) == 0 {
		t.fail(run.run.Range, "No cases", run.allExcluded(), "Correct the conditions of exclude.")
		return
	}
	why, hint := "satisfies its where clause", "Correct the clause, or remove the assertion."
	if a.Gains() {
		why += " and has another variant than " + run.run.BaselineVariant()
		hint = "The baseline has no gain over itself: sweep other variants, or correct the where clause."
	}
	t.fail(a.Range, "Assertion matches no case",
		fmt.Sprintf("None of the %d cases of run %q %s, so it would never be judged.", len(run.rows), run.run.Name,
			why),
		dsl.Hint(hint))
}

// assertionList collects the assertions of a case.
func (t *Table) assertionList(r *row) *assertionList {
	out := &assertionList{list: []assertion.Assertion{}}
	keys := []string{}
	for _, of := range r.asserted {
		if a := of(r); a != nil {
			if t.deadlineExceeded(r.run.Range) {
				return out
			}
			out.list = append(out.list, a.Assertion)
			keys = append(keys, a.judged)
		}
	}
	slices.Sort(keys)
	out.judged = encode(keys)
	return out
}

// matching returns the rows that satisfy the where clause, nil after an error.
func (t *Table) matching(run *runTable, a *dsl.Assert, find *finder) []*row {
	failed := false
	var knobs []string
	if w := a.Where(); w != nil {
		knobs = w.Names()
	}
	matches := byAxes(run, run.axesOf(knobs...), func(r *row) bool {
		if failed || t.deadlineExceeded(a.Range) {
			failed = true
			return false
		}
		ok, diags := a.Matches(r.scopeIn(find))
		t.report(diags...)
		failed = diags.HasErrors()
		return ok
	})
	if failed {
		return nil
	}
	var out []*row
	for _, r := range run.rows {
		if matches(r) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		t.refuseNoMatch(run, a)
	}
	return out
}
