package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// step is one transform on the way from scenario to plan. Each is in the file of its name.
type step struct {
	name string
	do   func(*Table)
}

// The steps that find out what is wrong go on after an error, as far as they
// can, so that all of it is reported at once; the others need a sound table.
var (
	checking = []step{
		{"expand", expand}, {"exclude", exclude}, {"resolve", resolve}, {"need", need}, {"assert", assert},
		{"condition", condition},
	}
	arranging = []step{{"order", order}, {"describe", describe}, {"group", group}, {"seal", seal}}
)

// Steps are the names of the steps, in order.
func Steps() []string {
	var names []string
	for _, s := range slices.Concat(checking, arranging) {
		names = append(names, s.name)
	}
	return names
}

// Build plans a scenario. All that is wrong with it is reported at once; a plan
// comes only with diagnostics that hold no error.
func Build(s *dsl.Scenario) (*Plan, hcl.Diagnostics) {
	t, diags := Tabulate(s)
	if t == nil {
		return nil, diags
	}
	return t.Plan(), diags
}

// Tabulate plans a scenario without writing its cases out.
func Tabulate(s *dsl.Scenario) (*Table, hcl.Diagnostics) {
	t := tabulate(s, "")
	if t.diags.HasErrors() {
		return nil, t.diags
	}
	return t, t.diags
}

// After plans up to and with a step, to see what the step did. What later steps
// give (keys of groups, ids, digests, cost) is missing from the plan.
func After(s *dsl.Scenario, name string) (*Plan, hcl.Diagnostics, error) {
	if !slices.Contains(Steps(), name) {
		return nil, nil, fmt.Errorf("there is no step %q; the steps are %s", name, strings.Join(Steps(), ", "))
	}
	t := tabulate(s, name)
	if t.diags.HasErrors() {
		return nil, t.diags, nil
	}
	if !slices.ContainsFunc(t.sheets, func(s *sheet) bool { return s.clusters != nil }) {
		describe(t)
		for _, s := range t.sheets {
			s.clusters = []*tableGroup{{sheet: s, id: s.run.Name, all: s.everyone(), index: -1}}
		}
	}
	return t.Plan(), t.diags, nil
}

func (s *sheet) everyone() []int32 {
	all := make([]int32, s.live)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

func tabulate(s *dsl.Scenario, last string) *Table {
	t := &Table{scenario: s, head: &Plan{Schema: Schema}, known: map[problem]bool{}, byName: map[string]*sheet{}}
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

// report adds a diagnostic once: the same mistake shows at every point of a sweep.
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

// fail reports an error of the scenario's author at a place in the file, with what
// to do about it.
func (t *Table) fail(at hcl.Range, summary, detail string, hint dsl.Hint) {
	t.report(failure(at, summary, detail, hint))
}

func failure(at hcl.Range, summary, detail string, hint dsl.Hint) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Extra: hint, Subject: at.Ptr()}
}

func (t *Table) sheet(run string) *sheet {
	return t.byName[run]
}

// Len is the number of cases, excluded ones included.
func (t *Table) Len() int {
	n := 0
	for _, s := range t.sheets {
		n += s.live + len(s.excluded.reasons)
	}
	return n
}
