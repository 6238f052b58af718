package planner

import (
	"fmt"

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
			c.Options, c.Env, c.Place = at.Options, at.Env, place
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
