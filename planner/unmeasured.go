package planner

import (
	"fmt"
	"slices"

	"weir/assertion"
	"weir/dsl"
	"weir/workload"
)

// ruledOut refuses an assertion about a metric that a case has not with its options. own is the
// case that it is of, and find knows the others that it names; false: it did refuse.
func (t *Table) ruledOut(a *dsl.Assert, lowered assertion.Assertion, own place, find *finder) bool {
	ok := true
	lowered.Takes(func(metric, key string) {
		of := own
		if key != "" {
			named, known := find.places[key]
			if !known {
				return
			}
			of = named
		}
		if why := of.sheet.lacks(of.index, metric); ok && why != "" {
			ok = false
			t.fail(a.Range, "Metric that the options rule out",
				fmt.Sprintf("Case %s has no %s: %s.", of.sheet.key(of.sheet.columns, of.index), metric, why),
				"Change the option, choose other cases by where, or remove the assertion.")
		}
	})
	return ok
}

// lacks says which option of a live case rules a metric out; "": it has the metric, or nobody knows.
func (s *sheet) lacks(i int, metric string) string {
	k := s.run.Workload
	if len(decisive(k, metric)) == 0 {
		return ""
	}
	why := ""
	_ = k.Assume(s.options(i), func(assumed workload.Values) error {
		if why = k.Unmeasured(assumed, metric); why != "" {
			return fmt.Errorf("%s", why) // with other values it may be there
		}
		return nil
	})
	return why
}

// decisive are the options of a workload that may rule a metric out.
func decisive(k *workload.Kind, metric string) []string {
	switch {
	case k.Unmeasured == nil:
		return nil
	case k.UnmeasuredBy == nil:
		return k.Checked
	}
	return k.UnmeasuredBy(metric)
}

// ruling says whether a metric may be ruled out in any run.
func (t *Table) ruling(metric string) bool {
	return slices.ContainsFunc(t.sheets, func(s *sheet) bool { return len(decisive(s.run.Workload, metric)) > 0 })
}

// ruledOutOfEach looks at an assertion of cases for all options that can rule its metrics out. Whatever cases
// it is of, its metrics are the same.
func (t *Table) ruledOutOfEach(s *sheet, a *dsl.Assert, axes []int, of func(i int) *attached, find *finder) {
	metrics, all := map[string]bool{}, slices.Clone(axes)
	for _, first := range s.by(axes).first {
		if first < 0 || of(int(first)) == nil {
			continue
		}
		of(int(first)).Takes(func(metric, _ string) {
			if !metrics[metric] && t.ruling(metric) {
				metrics[metric] = true
				all = append(all, s.axesOf(decisive(s.run.Workload, metric))...)
			}
		})
		break
	}
	if len(metrics) == 0 {
		return
	}
	slices.Sort(all)
	for _, first := range s.by(slices.Compact(all)).first {
		if first < 0 {
			continue
		}
		if lowered := of(int(first)); lowered != nil && !t.ruledOut(a, lowered.Assertion, place{s, int(first)}, find) {
			return // one says it
		}
	}
}
