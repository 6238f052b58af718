// Assertions over several cases.

package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results/assertion"
)

// multiCase is an assertion over several cases of a run.
type multiCase struct {
	run       string
	assertion assertion.Assertion
}

// along creates one assertion of a trend for each combination of the other axes.
func (t *Table) along(run *runTable, a *dsl.Assert, find *finder) {
	axis := a.TrendAxis()
	at := slices.IndexFunc(run.run.Axes, func(x *dsl.Axis) bool { return x.Name == axis })
	t.addMultiCase(run, a, find, []string{axis}, func(rows []*row) *assertion.Assertion {
		slices.SortStableFunc(rows, func(x, y *row) int { return ascending(x.value(at).Value, y.value(at).Value) })
		if len(rows) < 2 {
			t.fail(a.Range, "Trend over a single case",
				fmt.Sprintf("%q compares cases along axis %s, but only %s matches. A trend needs at least two cases.",
					a.Text, axis, rows[0].key()),
				"Give the axis another value, or change the where clause.")
			return nil
		}
		lowered, diags := a.Lower(rows[0].scopeIn(find))
		if t.report(diags...); diags.HasErrors() {
			return nil
		}
		lowered.Cases = nil
		for _, r := range rows {
			lowered.Cases = append(lowered.Cases, r.key())
			if !t.refuseRuledOut(a, lowered, r, find) {
				return nil
			}
		}
		return &lowered
	})
}

// over creates one assertion of an aggregate or quantifier for each combination of the other axes.
func (t *Table) over(run *runTable, a *dsl.Assert, find *finder) {
	over := a.OverAxes()
	if len(over) == 0 {
		over = run.axisNames(run.allAxes())
	}
	t.addMultiCase(run, a, find, over, func(rows []*row) *assertion.Assertion {
		var scopes []dsl.Scope
		for _, r := range rows {
			scopes = append(scopes, r.scopeIn(find))
			find.rows[r.key()] = r
		}
		lowered, diags := a.LowerOver(scopes)
		if t.report(diags...); diags.HasErrors() || !t.checkShare(run, a, lowered) ||
			!t.refuseRuledOut(a, lowered, rows[0], find) {
			return nil
		}
		return &lowered
	})
}

// ascending orders values of an axis: numbers by size, other values by their order in the list.
func ascending(a, b any) int {
	x, ok := option.Number(a)
	y, also := option.Number(b)
	if !ok || !also {
		return 0
	}
	return cmp.Compare(x, y)
}

// without returns all axes but some.
func (t *runTable) without(names []string) []int {
	return slices.DeleteFunc(t.allAxes(), func(a int) bool { return slices.Contains(names, t.run.Axes[a].Name) })
}

// addMultiCase adds assertions over several rows: one for each combination of values on the other
// axes. lower makes it; nil means that it failed.
func (t *Table) addMultiCase(run *runTable, a *dsl.Assert, find *finder, axes []string,
	lower func(rows []*row) *assertion.Assertion,
) {
	var together ordered.Groups[string, *row]
	others := run.without(axes)
	for _, r := range t.matching(run, a, find) {
		together.Add(string(r.appendValues(nil, others)), r)
	}
	for _, rows := range together.All() {
		if t.deadlineExceeded(a.Range) {
			return
		}
		lowered := lower(rows)
		if lowered == nil {
			return
		}
		if len(together.Keys()) > 1 {
			lowered.Name = strings.TrimSpace(lowered.Name + " " + rows[0].text(others))
		}
		t.multiCase = append(t.multiCase, multiCase{run.run.Name, *lowered})
	}
}
