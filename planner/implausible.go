package planner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/dsl"
	"weir/quantity"
	"weir/workload"
)

// implausible warns of an assertion of a case that asks for more than the fastest link of the site
// carries, if each rank has one, or as many as the run gives it NICs.
func (t *Table) implausible(s *sheet, a *dsl.Assert, lowered assertion.Assertion, i int) {
	subject := lowered.Subject
	if len(t.scenario.Links) == 0 || subject == nil || lowered.Bounds.Lower == nil || lowered.Unit != "GB/s" ||
		subject.Op != assertion.Metric || subject.Metric != workload.Bandwidth || subject.Case != "" {
		return
	}
	fastest := ""
	for _, name := range slices.Sorted(maps.Keys(t.scenario.Links)) {
		if fastest == "" || t.scenario.Links[name] > t.scenario.Links[fastest] {
			fastest = name
		}
	}
	rate, each := t.scenario.Links[fastest], max(1, s.run.Place.NICsPerRank)
	ranks := max(1, s.ranks(i))
	most := rate * float64(each*ranks)
	if *lowered.Bounds.Lower <= most {
		return
	}
	t.report(&hcl.Diagnostic{
		Severity: hcl.DiagWarning, Summary: "Implausible", Subject: a.Range.Ptr(),
		Detail: fmt.Sprintf("Run %q is to have at least %s, and %s with %s each carry %d × %s = %s: "+
			"the fastest link of the site is %s.", s.run.Name,
			quantity.Format(*lowered.Bounds.Lower, "GB/s"), plural(ranks, "rank"), plural(each, "link"),
			ranks*each, quantity.Format(rate, "GB/s"), quantity.Format(most, "GB/s"), fastest),
		Extra: dsl.Hint("Correct the value, or say in place how many NICs each rank has."),
	})
}
