package planner

import (
	"fmt"
	"regexp"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/results/assertion"
)

// endsWithNumber matches an assertion that ends with a number without a unit.
var endsWithNumber = regexp.MustCompile(`(?:[<>]=?|\bof)\s*([0-9][0-9.]*)$`)

// warnBareTime warns of a quantile of a time that is compared with a second or more without a unit: the author may
// think in ms. Metrics that a run declares have a unit of their author's.
func (t *Table) warnBareTime(run *runTable, a *dsl.Assert, axes []int, of func(*row) *caseAssertions) {
	number := endsWithNumber.FindStringSubmatch(a.Text)
	if number == nil {
		return
	}
	for r := range run.distinct(axes...) {
		lowered := of(r)
		if lowered == nil || lowered.Unit != "s" || lowered.Subject == nil || lowered.Subject.Op != assertion.Metric {
			continue
		}
		b, metric := lowered.Bounds, lowered.Subject.Metric
		long := b.Upper != nil && *b.Upper >= 1 || b.Lower != nil && *b.Lower >= 1
		m, builtIn := run.run.Workload.Metric(metric)
		if _, quantile := m.Level(); !builtIn || !long || !quantile {
			continue
		}
		n := number[1]
		t.warn(a.Range, "Time without a unit", fmt.Sprintf("%s has no unit, so %s is compared with %ss.", n, metric, n),
			dsl.Hint(fmt.Sprintf("Write %ss, %sms or %sus.", n, n, n)))
		return
	}
}
