package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results/assertion"
)

// warnTransport warns of an assertion about transports that no launch over its fabric can satisfy.
func (t *Table) warnTransport(
	run *runTable, a *dsl.Assert, axes []int, of func(*row) *caseAssertions,
) {
	for r := range run.distinct(append(run.axesOf("fabric"), axes...)...) {
		lowered := of(r)
		if lowered == nil || lowered.Transport == nil || lowered.XFail != nil {
			continue
		}
		name, _ := r.option("fabric").(string)
		f, _ := fabric.Find(name)
		if len(f.Transports) == 0 || possible(lowered.Transport, f.Transports) {
			continue
		}
		t.warn(a.Range, "Never holds",
			fmt.Sprintf("Data of fabric %s is carried by %s, so %q fails in each launch of %s.", name,
				strings.Join(f.Transports, " or "), a.Text, r.key()),
			dsl.Hint(fmt.Sprintf("Exclude these cases: where fabric != %q; or correct the name.", name)))
		return
	}
}

// possible reports whether a transport assertion can hold if data is carried by one of these transports.
func possible(a *assertion.Transport, transports []string) bool {
	return slices.ContainsFunc(transports, func(name string) bool {
		return a.Matches(name, "") == (a.Of != assertion.None)
	})
}
