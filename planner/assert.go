package planner

import (
	"fmt"
	"slices"
	"strings"

	"weir/assertion"
	"weir/dsl"
)

// attached is an assertion of a case with its part of ids.
type attached struct {
	assertion.Assertion
	judged string
}

// judgements are the assertions of some cases, which share them.
type judgements struct {
	list   []assertion.Assertion
	judged []byte // as a part of ids
}

// assert attaches the assertions of each run to the cases that they speak of.
func assert(t *Table) {
	if t.diags.HasErrors() {
		return // scopes need resolved options, and one cause is enough
	}
	find := newFinder(t)
	for _, s := range t.sheets {
		var axes []int
		for _, a := range s.run.Asserts {
			if len(t.diags) > mostSame {
				return // each may have taken long to find
			}
			switch a.Reach() {
			case dsl.Along:
				t.along(s, a, find)
			case dsl.Over:
				t.over(s, a, find)
			default:
				axes = append(axes, t.eachCase(s, a, find)...)
			}
		}
		if t.diags.HasErrors() {
			continue
		}
		slices.Sort(axes)
		s.assertedBy = slices.Compact(axes)
		classes := s.by(s.assertedBy)
		s.assertions = work(classes, func(i int) judgements { return t.judgements(s, i) })
	}
}

// scope is what conditions and assertions see of a live case.
func (s *sheet) scope(i int) dsl.Scope {
	out := dsl.Scope{
		Options: s.options(i), Axes: map[string]any{}, Texts: map[string]string{}, Key: s.key(s.columns, i),
	}
	for axis, a := range s.run.Axes {
		v := s.value(s.columns, axis, i)
		out.Axes[a.Name], out.Texts[a.Name] = v.Value, v.Text
	}
	return out
}

func (s *sheet) scopeIn(i int, find *finder) dsl.Scope {
	out := s.scope(i)
	out.Cases = find
	return out
}

// depends are the axes on which an assertion depends, so that one lowering does
// for all cases with the same values on them.
func (t *Table) depends(s *sheet, a *dsl.Assert) []int {
	uses := a.Uses()
	if uses.Others || uses.Baseline {
		return s.allAxes()
	}
	axes := s.axesOf(uses.Knobs)
	for _, run := range uses.Runs {
		if up := t.sheet(run); up != nil {
			own, _ := sharedAxes(s.run, up.run)
			axes = append(axes, own...)
		}
	}
	slices.Sort(axes)
	return slices.Compact(axes)
}

// eachCase lowers an assertion for the cases that it matches, and gives the axes
// on which that depends.
func (t *Table) eachCase(s *sheet, a *dsl.Assert, find *finder) []int {
	axes := t.depends(s, a)
	matches, failed := 0, false
	f := work(s.by(axes), func(i int) *attached {
		if failed || t.late(a.Range) {
			failed = true
			return nil
		}
		scope := s.scopeIn(i, find)
		ok, diags := a.Matches(scope)
		if t.report(diags...); diags.HasErrors() {
			failed = true
			return nil
		}
		if !ok {
			return nil
		}
		matches++
		lowered, diags := a.Lower(scope)
		if t.report(diags...); diags.HasErrors() {
			failed = true
			return nil
		}
		if !t.showable(s, a, lowered) {
			failed = true
			return nil
		}
		return &attached{lowered, lowered.Key()}
	})
	switch {
	case failed:
	case matches == 0:
		t.matchesNone(s, a)
	default:
		t.ruledOutOfEach(s, a, axes, f.at, find)
		t.doubtful(s, a, axes, f.at)
		t.implausible(s, a, axes, f.at)
	}
	s.asserted = append(s.asserted, f)
	return axes
}

// matchesNone refuses an assertion that speaks of nothing: it would pass for ever.
func (t *Table) matchesNone(s *sheet, a *dsl.Assert) {
	if s.live == 0 {
		t.fail(s.run.Range, "No cases", fmt.Sprintf("The sweep of run %q excludes all of its %s, so nothing would run.",
			s.run.Name, plural(len(s.excluded.reasons), "point")), "Correct the conditions of exclude.")
		return
	}
	why, hint := "satisfies its where clause", "Correct the clause, or remove the assertion."
	if a.Gains() {
		why += " and is of another variant than " + s.run.BaselineVariant()
		hint = "The baseline has no gain over itself: sweep other variants, and correct the clause if there is one."
	}
	t.fail(a.Range, "Assertion matches no case",
		fmt.Sprintf("None of the %d cases of run %q %s, so it would never be judged.", s.live, s.run.Name, why),
		dsl.Hint(hint))
}

// judgements gathers what is asserted of a case.
func (t *Table) judgements(s *sheet, i int) judgements {
	out := judgements{list: []assertion.Assertion{}}
	keys := []string{}
	for _, f := range s.asserted {
		if a := f.at(i); a != nil {
			if t.late(s.run.Range) {
				return out
			}
			out.list = append(out.list, a.Assertion)
			keys = append(keys, a.judged)
		}
	}
	slices.Sort(keys)
	out.judged = encode(keys)
	return out
}

// matching are the live cases that the where clause lets through, nil after an error.
func (t *Table) matching(s *sheet, a *dsl.Assert, find *finder) []int {
	failed := false
	var knobs []string
	if w := a.Where(); w != nil {
		knobs = w.Names()
	}
	classes := s.by(s.axesOf(knobs))
	f := work(classes, func(i int) bool {
		if failed || t.late(a.Range) {
			failed = true
			return false
		}
		ok, diags := a.Matches(s.scopeIn(i, find))
		t.report(diags...)
		failed = failed || diags.HasErrors()
		return ok
	})
	if failed {
		return nil
	}
	var out []int
	for i := range s.live {
		if f.at(i) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		t.matchesNone(s, a)
	}
	return out
}

// rowsOf divides cases by their values on all but some axes, in order of appearance.
func (s *sheet) rowsOf(cases []int, without []string) [][]int {
	var axes []int
	for i, a := range s.run.Axes {
		if !slices.Contains(without, a.Name) {
			axes = append(axes, i)
		}
	}
	classes := s.by(axes)
	index := map[int]int{}
	var out [][]int
	for _, i := range cases {
		k, ok := index[classes.class(i)]
		if !ok {
			k = len(out)
			index[classes.class(i)] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	return out
}

// combination names the values of a case on all but some axes.
func (s *sheet) combination(i int, without []string) string {
	var axes []int
	for k, a := range s.run.Axes {
		if !slices.Contains(without, a.Name) {
			axes = append(axes, k)
		}
	}
	return s.text(s.columns, axes, i)
}

// span adds an assertion over several cases, one of so many of the same text.
func (t *Table) span(s *sheet, a assertion.Assertion, combination string, many bool) {
	if many {
		a.Name = strings.TrimSpace(a.Name + " " + combination)
	}
	t.spanning = append(t.spanning, spanning{s.run.Name, a})
}
