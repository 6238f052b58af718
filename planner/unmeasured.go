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
	if k.Unmeasured == nil {
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

// ruling says whether a workload of the scenario has options that rule metrics out.
func (t *Table) ruling() bool {
	return slices.ContainsFunc(t.sheets, func(s *sheet) bool { return s.run.Workload.Unmeasured != nil })
}

// ruledOutOfEach looks at an assertion of cases for all options that can rule its metrics out.
func (t *Table) ruledOutOfEach(s *sheet, a *dsl.Assert, axes []int, of func(i int) *attached, find *finder) {
	if !t.ruling() {
		return
	}
	all := append(slices.Clone(axes), s.axesOf(s.run.Workload.Checked)...)
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
