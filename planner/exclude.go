// Step exclude: exclude and include of sweeps.

package planner

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
)

// exclude removes the points that the sweeps exclude, and adds those that they include.
func exclude(t *Table) {
	for _, r := range t.runs {
		t.exclusions(r)
		if t.diags.HasErrors() {
			continue
		}
		r.split()
		t.include(r)
		t.unique(r)
		if len(r.rows) == 0 && len(r.excluded) > 0 && len(r.run.Asserts) == 0 { // with assertions it is an error
			t.warn(r.run.Sweep.Range, "No cases", r.allExcluded(), "Correct the conditions of exclude.")
		}
	}
}

// allExcluded says that a run has no cases.
func (t *runTable) allExcluded() string {
	return fmt.Sprintf("The sweep of run %q excludes all of its %s, so nothing would run.", t.run.Name,
		plural(len(t.excluded), "point"))
}

// exclusions sets the reasons of excluded rows.
func (t *Table) exclusions(run *runTable) {
	for _, x := range run.run.Sweep.Exclude {
		if len(run.rows) == 0 {
			return
		}
		reason := "excluded: " + x.When.Text()
		if x.Reason != "" {
			reason = x.Reason
		}
		names, failed, hits := x.When.Names(), false, 0
		matches := byAxes(run, run.axesOf(names...), func(r *row) bool {
			if t.deadlineExceeded(x.Range) {
				return false
			}
			ok, err := x.When.Eval(t.partialScope(r, names))
			if err != nil && !failed {
				failed = true
				t.fail(x.Range, "Condition cannot be evaluated", fmt.Sprintf("%s: %s.", r.key(), err),
					"Correct the condition.")
			}
			return ok
		})
		for _, r := range run.rows {
			if matches(r) {
				hits++
				if r.reason == "" {
					r.reason = reason
				}
			}
		}
		if hits == 0 && !failed && !t.diags.HasErrors() {
			t.fail(x.Range, "Exclusion without effect", fmt.Sprintf("None of the %d points of run %q satisfies %s.",
				len(run.rows), run.run.Name, x.When.Text()), "Correct the condition, or remove it.")
		}
	}
}

// partialScope returns the named options and axes of a case before it is resolved.
func (t *Table) partialScope(r *row, names []string) dsl.Scope {
	out := dsl.Scope{Options: option.Values{}, Axes: map[string]any{}}
	for axis, a := range r.run.Axes {
		if slices.Contains(names, a.Name) {
			out.Axes[a.Name] = r.value(axis).Value
		}
	}
	for _, c := range r.run.Settings() {
		if c.Env || !slices.Contains(names, c.Name) {
			continue
		}
		v, diags := c.Value(r.at(c.Axes))
		t.report(diags...)
		if v != nil {
			out.Options[c.Name] = v
		}
	}
	return out
}

// split moves excluded points out of the rows.
func (t *runTable) split() {
	t.rows = slices.DeleteFunc(t.rows, func(r *row) bool {
		if r.isExcluded = r.reason != ""; r.isExcluded {
			t.excluded = append(t.excluded, r)
		}
		return r.isExcluded
	})
}

// include adds the points listed in the sweep. Exclusions do not apply to them.
func (t *Table) include(run *runTable) {
	for _, p := range run.run.Sweep.Include {
		r := &row{runTable: run}
		for _, v := range p.Values {
			r.values = append(r.values, int32(v))
		}
		run.rows = append(run.rows, r)
	}
	if total := len(run.rows) + len(run.excluded); total > run.run.Sweep.MaxCases {
		t.fail(run.run.Range, "Too many cases",
			fmt.Sprintf("The sweep of run %q gives %d cases; at most %d are allowed.", run.run.Name, total,
				run.run.Sweep.MaxCases), "Shorten an axis, split the run, or raise max_cases in the sweep.")
	}
}

// unique refuses repeated points; a product of axes never has any.
func (t *Table) unique(run *runTable) {
	included := run.run.Sweep.Include
	if len(included) == 0 && !run.run.Sweep.Root.Repeats() {
		return
	}
	seen, axes := make(map[string]bool, len(run.rows)), run.allAxes()
	for _, r := range run.excluded {
		seen[string(r.appendValues(nil, axes))] = true
	}
	for i, r := range run.rows {
		point := string(r.appendValues(nil, axes))
		if seen[point] {
			at := run.run.Sweep.Range
			if i -= len(run.rows) - len(included); i >= 0 {
				at = included[i].Range
			}
			t.fail(at, "Point given twice", fmt.Sprintf("The sweep gives the case %s more than once.", r.key()),
				"Remove one of the two.")
			return
		}
		seen[point] = true
	}
}
