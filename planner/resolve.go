package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/workload"
)

// resolve gives every case its options, environment and place.
func resolve(d *draft) {
	place := Place{Nodes: max(1, d.scenario.Cluster.Nodes), DistinctHosts: d.scenario.Cluster.DistinctHosts}
	for _, r := range d.runs {
		for _, c := range r.cases {
			at, diags := r.run.At(c.point)
			d.report(diags...)
			if diags.HasErrors() {
				continue
			}
			c.Options, c.Env, c.Place = r.run.Workload.Applicable(at.Options), at.Env, place
			if c.Env == nil {
				c.Env = map[string]string{}
			}
			if err := checkOptions(r.run.Workload, c.Options); err != nil {
				d.report(&hcl.Diagnostic{
					Severity: hcl.DiagError, Summary: "Options that do not go together",
					Detail:  fmt.Sprintf("Run %q: %s.", r.run.Name, err),
					Subject: r.run.Range.Ptr(),
				})
			}
		}
		idle(d, r)
	}
}

// idle reports options that the run sets and that exist in none of its cases.
func idle(d *draft, r *draftRun) {
	k := r.run.Workload
	for _, o := range k.Options {
		at, given := r.run.Given(o.Name)
		if !given || len(r.cases) == 0 || slices.ContainsFunc(r.cases, func(c *draftCase) bool { return c.Options == nil || k.Applies(o, c.Options) }) {
			continue
		}
		var only []string
		for _, name := range slices.Sorted(maps.Keys(o.For)) {
			only = append(only, name+" "+o.For[name])
		}
		d.fail(at, "Option without effect", fmt.Sprintf("Option %s exists only with %s, and no case of run %q has that. Set that too, or remove %s.",
			o.Name, strings.Join(only, " and "), r.run.Name, o.Name))
	}
}

// checkOptions holds what no single option can say.
func checkOptions(k *workload.Kind, v workload.Values) error {
	if k == workload.Transfer {
		_, err := workload.DecodeTransfer(v)
		return err
	}
	return nil
}
