package planner

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// condition settles what `when` can be settled of now. What depends on the hosts
// stays with the case, for whoever knows them.
func condition(d *draft) {
	if d.diags.HasErrors() {
		return
	}
	for _, r := range d.runs {
		w := r.run.When
		if w == nil {
			continue
		}
		for _, c := range r.cases {
			if w.UsesHost() {
				c.When = w.Text()
				continue
			}
			ok, err := w.Eval(c.scope())
			if err != nil {
				d.report(&hcl.Diagnostic{
					Severity: hcl.DiagError, Summary: "Condition cannot be evaluated",
					Detail:  fmt.Sprintf("The `when` of run %q: %s.", r.run.Name, err),
					Subject: r.run.Range.Ptr(),
				})
				break
			}
			if !ok {
				c.skip("when: " + w.Text())
			}
		}
	}
}

func (c *Case) skip(reason string) { c.Status, c.Reason = Skipped, reason }
