// Entry points: Build and Tabulate, and the steps that they run.

package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

// step is one transformation from scenario to plan. Each is in the file of its name.
type step struct {
	name string
	do   func(*Table)
}

// The checking steps continue after an error, so that all errors are reported at once; the others
// need a table without errors.
var (
	checking = []step{
		{"expand", expand}, {"exclude", exclude}, {"resolve", resolve}, {"need", drawNeeds}, {"assert", assert},
		{"condition", condition}, {"claim", claim},
	}
	arranging = []step{{"order", order}, {"describe", describe}, {"group", groupCases}, {"seal", seal}}
)

// Steps returns the names of the steps, in order.
func Steps() []string {
	var names []string
	for _, s := range slices.Concat(checking, arranging) {
		names = append(names, s.name)
	}
	return names
}

// Build plans a scenario. It reports all errors at once; the plan is nil if there are any.
func Build(s *dsl.Scenario) (*Plan, hcl.Diagnostics) {
	t, diags := Tabulate(s)
	if t == nil {
		return nil, diags
	}
	return t.Plan(), diags
}

// Tabulate plans a scenario without expanding its cases.
func Tabulate(s *dsl.Scenario) (*Table, hcl.Diagnostics) {
	t := tabulate(s, "")
	if t.diags.HasErrors() {
		return nil, t.diags
	}
	return t, t.diags
}

// After plans up to and including a step, to inspect the step. The results of later steps (keys of
// groups, ids, digests, cost) are missing from the plan.
func After(s *dsl.Scenario, name string) (*Plan, hcl.Diagnostics, error) {
	if !slices.Contains(Steps(), name) {
		return nil, nil, fmt.Errorf("there is no step %q; the steps are %s", name, strings.Join(Steps(), ", "))
	}
	t := tabulate(s, name)
	if t.diags.HasErrors() {
		return nil, t.diags, nil
	}
	if t.head.Runs == nil {
		describe(t)
	}
	return t.Plan(), t.diags, nil
}

func tabulate(s *dsl.Scenario, last string) *Table {
	t := &Table{scenario: s, head: &Plan{Schema: Schema}, known: map[problem]bool{}}
	for _, step := range checking {
		if step.do(t); step.name == last {
			return t
		}
	}
	if t.diags.HasErrors() {
		return t
	}
	for _, step := range arranging {
		if step.do(t); step.name == last {
			break
		}
	}
	return t
}

// report adds a diagnostic once: the same error occurs at every point of a sweep.
func (t *Table) report(diags ...*hcl.Diagnostic) {
	for _, n := range diags {
		p := problem{summary: n.Summary}
		if n.Subject != nil {
			p.at, p.placed = *n.Subject, true
		}
		if !t.known[p] {
			t.known[p] = true
			t.diags = append(t.diags, n)
		}
	}
}

// fail reports an error in the scenario, with a hint.
func (t *Table) fail(at hcl.Range, summary, detail string, hint dsl.Hint) {
	t.report(failure(at, summary, detail, hint))
}

// warn reports a likely mistake in the scenario.
func (t *Table) warn(at hcl.Range, summary, detail string, hint dsl.Hint) {
	d := failure(at, summary, detail, hint)
	d.Severity = hcl.DiagWarning
	t.report(d)
}

func failure(at hcl.Range, summary, detail string, hint dsl.Hint) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Extra: hint, Subject: at.Ptr()}
}

// Len returns the number of cases, including excluded ones.
func (t *Table) Len() int {
	n := 0
	for _, r := range t.runs {
		n += len(r.rows) + len(r.excluded)
	}
	return n
}
