package planner

import (
	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// draft is a plan in the making. Build's steps fill it in one after the other;
// each is in the file of its name.
type draft struct {
	scenario *dsl.Scenario
	runs     []*draftRun // in file order until order() sorts them
	trends   []trend
	plan     *Plan
	diags    hcl.Diagnostics
}

// draftRun is a run with the cases that its sweep gives.
type draftRun struct {
	run   *dsl.Run
	cases []*draftCase // in sweep order, first axis outermost
}

// draftCase is a case together with the point that it came from.
type draftCase struct {
	*Case
	point []dsl.AxisValue // one value per axis of the run
}

// Build plans a scenario. All that is wrong with it is reported at once; a plan
// comes only with diagnostics that hold no error.
func Build(s *dsl.Scenario) (*Plan, hcl.Diagnostics) {
	d := &draft{scenario: s, plan: &Plan{Schema: Schema}}
	for _, step := range []func(*draft){expand, resolve, need, assert, condition} {
		step(d)
	}
	if d.diags.HasErrors() {
		return nil, d.diags
	}
	for _, step := range []func(*draft){order, describe, group, seal} {
		step(d)
	}
	return d.plan, d.diags
}

// report adds a diagnostic once: the same mistake shows at every point of a sweep.
func (d *draft) report(diags ...*hcl.Diagnostic) {
	for _, n := range diags {
		if !d.reported(n) {
			d.diags = append(d.diags, n)
		}
	}
}

func (d *draft) reported(n *hcl.Diagnostic) bool {
	for _, o := range d.diags {
		samePlace := o.Subject == n.Subject || o.Subject != nil && n.Subject != nil && *o.Subject == *n.Subject
		if samePlace && o.Summary == n.Summary && o.Detail == n.Detail {
			return true
		}
	}
	return false
}

// fail reports an error of the scenario's author at a place in the file.
func (d *draft) fail(at hcl.Range, summary, detail string) {
	d.report(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: at.Ptr()})
}

// describe copies what the plan keeps of the scenario itself.
func describe(d *draft) {
	s := d.scenario
	d.plan.Scenario = Scenario{Name: s.Name, Description: s.Description, File: s.File, Variables: map[string]string{}}
	for _, v := range s.Variables {
		d.plan.Scenario.Variables[v.Name] = v.Text
	}
	d.plan.Cluster = Cluster(s.Cluster)
	d.plan.Checks = []Check{}
	for _, c := range s.Checks {
		d.plan.Checks = append(d.plan.Checks, Check{Name: c.Name, Command: c.Command})
	}
}

// seal computes what follows from everything else: ids, digests and cost.
func seal(d *draft) {
	for _, c := range d.plan.Cases {
		c.ID = c.digest()
	}
	d.plan.refresh()
	d.plan.Scenario.Digest = d.plan.Digest
}

// refresh computes again what a change of cases or groups makes stale.
func (p *Plan) refresh() {
	p.Digest = p.digest()
	p.Cost = p.cost()
}
