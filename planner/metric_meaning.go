// Warnings of metrics that have another meaning with some options.

package planner

import (
	"fmt"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// warnMetricMeaning warns of an assertion on a metric that has another meaning with the options of a case.
func (t *Table) warnMetricMeaning(run *runTable, a *dsl.Assert, axes []int, of func(*row) *caseAssertions) {
	k := run.run.Workload
	b, ok := k.Behaviour.(workload.MetricWarner)
	if !ok {
		return
	}
	for r := range run.distinct(append(run.axesOf(k.Checked...), axes...)...) {
		if of(r) == nil {
			continue
		}
		of(r).Takes(func(metric, key string) {
			if key != "" && key != r.key() {
				return
			}
			why := ""
			_ = k.Assume(r.options(), func(assumed option.Values) error {
				if why = b.Doubtful(assumed, metric); why == "" {
					return nil
				}
				return fmt.Errorf("%s", why)
			})
			if why != "" {
				t.warn(a.Range, "Metric with another meaning",
					fmt.Sprintf("Case %s, %s: %s.", r.key(), metric, why), "")
			}
		})
	}
}
