// Step condition: `when`, and the skipping of cases that need skipped ones.

package planner

import (
	"fmt"
	"slices"
)

// byWhen begins the reason of a case that `when` of its run skips.
const byWhen = "when: "

// condition evaluates `when` as far as possible at planning. Conditions on hosts stay in the cases,
// to be evaluated later.
func condition(t *Table) {
	if t.diags.HasErrors() {
		return
	}
	for _, run := range t.runs {
		w := run.run.When
		if w == nil {
			continue
		}
		if w.UsesHost() {
			run.when = w.Text()
			continue
		}
		runs := byAxes(run, run.axesOf(w.Names()...), func(r *row) bool {
			if t.deadlineExceeded(run.run.WhenRange) {
				return true
			}
			ok, err := w.Eval(r.scope())
			if err != nil {
				t.fail(run.run.WhenRange, "Condition cannot be evaluated",
					fmt.Sprintf("The `when` of run %q: %s.", run.run.Name, err), "Correct the condition.")
			}
			return ok
		})
		reason := byWhen + w.Text()
		if len(w.Names()) == 0 && run.run.WhenWritten != w.Text() {
			reason = byWhen + run.run.WhenWritten + " is " + w.Text()
		}
		for _, r := range run.rows {
			if !runs(r) {
				r.reason = reason
			}
		}
	}
}

// neverRuns reports whether `when` is false for all cases, as with a variable that selects runs.
func (t *runTable) neverRuns() bool {
	w := t.run.When
	if w == nil || w.UsesHost() || len(t.axesOf(w.Names()...)) > 0 || len(t.rows) == 0 {
		return false
	}
	ok, err := w.Eval(t.rows[0].scope())
	return err == nil && !ok
}

// skip skips all cases that wait for a skipped case. Runs are in execution order.
func (t *Table) skip() {
	for _, run := range t.runs {
		for _, n := range run.needs {
			if n.On == always || !slices.ContainsFunc(n.upstream.rows, func(r *row) bool { return r.reason != "" }) {
				continue
			}
			for _, r := range run.rows {
				list := n.of(r).cases
				i := slices.IndexFunc(list, func(up *row) bool { return up.reason != "" })
				if i >= 0 && r.reason == "" {
					r.reason = "needs " + list[i].key() + ", which does not run"
				}
			}
		}
	}
}

func (c *Case) skip(reason string) { c.Status, c.Reason = Skipped, reason }

// skipDownstream is Table.skip for a written plan, after a selection skipped some of its cases.
func (p *Plan) skipDownstream() {
	for _, c := range p.Cases {
		for _, key := range c.Needs {
			up := p.keyed()[key]
			if c.Status == Planned && up != nil && up.Status == Skipped && c.NeedsOn[key] != always {
				c.skip("needs " + key + ", which does not run")
			}
		}
	}
}
