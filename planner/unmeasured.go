// Assertions on metrics that options rule out.

package planner

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// refuseRuledOut refuses an assertion on a metric that a case does not have with its options. own is the
// case of the assertion, and find finds the other cases. It returns false if it refused the
// assertion.
func (t *Table) refuseRuledOut(a *dsl.Assert, lowered assertion.Assertion, own *row, find *finder) bool {
	ok := true
	lowered.Takes(func(metric, key string) {
		of := own
		if key != "" {
			named, known := find.rows[key]
			if !known {
				return
			}
			of = named
		}
		if why := of.lacks(metric); ok && why != "" {
			ok = false
			t.fail(a.Range, "Metric not measured",
				fmt.Sprintf("Case %s has no %s: %s.", of.key(), metric, why),
				"Change the option, choose other cases by where, or remove the assertion.")
		}
	})
	return ok
}

// lacks returns the option of a case that rules a metric out; "" if the case has the metric, or if
// it is unknown.
func (r *row) lacks(metric string) string {
	k := r.run.Workload
	if len(optionsThatRuleOut(k, metric)) == 0 {
		return ""
	}
	why := ""
	_ = k.Assume(r.options(), func(assumed option.Values) error {
		if why = k.Behaviour.(workload.MetricExcluder).Unmeasured(assumed, metric); why != "" {
			return fmt.Errorf("%s", why) // it may exist with other values
		}
		return nil
	})
	return why
}

// optionsThatRuleOut returns the options of a workload that may rule a metric out.
func optionsThatRuleOut(k *workload.Kind, metric string) []string {
	if u, ok := k.Behaviour.(workload.MetricExcluder); ok {
		return u.UnmeasuredBy(metric)
	}
	return nil
}

// anyRulesOut reports whether any run may rule a metric out.
func (t *Table) anyRulesOut(metric string) bool {
	return slices.ContainsFunc(t.runs,
		func(t *runTable) bool { return len(optionsThatRuleOut(t.run.Workload, metric)) > 0 })
}

// checkRuledOut checks an assertion for all combinations of options that can rule its metrics out.
func (t *Table) checkRuledOut(
	run *runTable, a *dsl.Assert, axes []int, of func(*row) *caseAssertions, find *finder,
) {
	var metrics []string
	for r := range run.distinct(axes...) {
		if of(r) == nil {
			continue
		}
		of(r).Takes(func(metric, _ string) {
			if t.anyRulesOut(metric) && !slices.Contains(metrics, metric) {
				metrics = append(metrics, metric)
			}
		})
		break
	}
	if len(metrics) == 0 {
		return
	}
	for _, metric := range metrics {
		axes = append(run.axesOf(optionsThatRuleOut(run.run.Workload, metric)...), axes...)
	}
	for r := range run.distinct(sorted(axes)...) {
		if lowered := of(r); lowered != nil && !t.refuseRuledOut(a, lowered.Assertion, r, find) {
			return // one error is enough
		}
	}
}
