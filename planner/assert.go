package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"weir/assertion"
	"weir/dsl"
	"weir/quantity"
)

// trend is an assertion over the cases along one axis, before their keys are known to stay.
type trend struct {
	run       string
	assertion assertion.Assertion
}

// assert attaches the assertions of each run to the cases that they speak of.
func assert(d *draft) {
	if d.diags.HasErrors() {
		return // scopes need resolved options, and one cause is enough
	}
	for _, r := range d.runs {
		for _, c := range r.cases {
			c.Assertions = []assertion.Assertion{}
		}
		for _, a := range r.run.Asserts {
			cases := d.matching(r, a)
			if len(cases) == 0 {
				continue
			}
			if axis := a.TrendAxis(); axis != "" {
				d.assertTrend(r, a, axis, cases)
				continue
			}
			for _, c := range cases {
				lowered, diags := a.Lower(c.scope())
				d.report(diags...)
				if !diags.HasErrors() {
					c.Assertions = append(c.Assertions, lowered)
				}
			}
		}
	}
}

// matching are the cases that the where clause of an assertion lets through. An
// assertion that speaks of nothing would pass for ever, so it is an error.
func (d *draft) matching(r *draftRun, a *dsl.Assert) []*draftCase {
	var out []*draftCase
	for _, c := range r.cases {
		ok, diags := a.Matches(c.scope())
		d.report(diags...)
		if diags.HasErrors() {
			return nil
		}
		if ok {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		d.fail(a.Range, "Assertion matches no case", fmt.Sprintf("None of the %d cases of run %q satisfies its where clause, so it would never be judged.", len(r.cases), r.run.Name))
	}
	return out
}

// assertTrend makes one assertion for each combination of the other axes.
func (d *draft) assertTrend(r *draftRun, a *dsl.Assert, axis string, cases []*draftCase) {
	var others []string
	for _, x := range r.run.Axes {
		if x.Name != axis {
			others = append(others, x.Name)
		}
	}
	var combinations []string
	along := map[string][]*draftCase{}
	for _, c := range cases {
		k := c.project(r.run, others)
		if along[k] == nil {
			combinations = append(combinations, k)
		}
		along[k] = append(along[k], c)
	}
	for _, k := range combinations {
		line := along[k]
		slices.SortStableFunc(line, func(a, b *draftCase) int { return ascending(a.Axes[axis], b.Axes[axis]) })
		if len(line) < 2 {
			d.fail(a.Range, "Trend over a single case", fmt.Sprintf("%q compares cases along the axis %s, and only %s takes part. A trend needs at least two cases.", a.Text, axis, line[0].Key))
			return
		}
		lowered, diags := a.Lower(line[0].scope())
		d.report(diags...)
		if diags.HasErrors() {
			return
		}
		lowered.Cases = nil
		for _, c := range line {
			lowered.Cases = append(lowered.Cases, c.Key)
		}
		if len(combinations) > 1 {
			lowered.Name = strings.TrimSpace(lowered.Name + " " + k)
		}
		d.trends = append(d.trends, trend{r.run.Name, lowered})
	}
}

// ascending orders values of an axis: numbers by size, in whatever order they are
// listed; all else has no order but that of the list.
func ascending(a, b any) int {
	x, ok := number(a)
	y, also := number(b)
	if !ok || !also {
		return 0
	}
	return cmp.Compare(x, y)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case quantity.Size:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// scope is what conditions and assertions see of a case.
func (c *Case) scope() dsl.Scope {
	return dsl.Scope{Options: c.Options, Axes: c.Axes}
}
