package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"weir/dsl"
	"weir/quantity"
	"weir/workload"
)

// along makes one assertion of a trend for each combination of the other axes.
func (t *Table) along(s *sheet, a *dsl.Assert, find *finder) {
	axis := []string{a.TrendAxis()}
	trendAxis := slices.IndexFunc(s.run.Axes, func(x *dsl.Axis) bool { return x.Name == axis[0] })
	cases := t.matching(s, a, find)
	lines := s.rowsOf(cases, axis)
	for _, line := range lines {
		if t.late(a.Range) {
			return
		}
		slices.SortStableFunc(line, func(x, y int) int {
			return ascending(s.value(s.columns, trendAxis, x).Value, s.value(s.columns, trendAxis, y).Value)
		})
		if len(line) < 2 {
			t.fail(a.Range, "Trend over a single case",
				fmt.Sprintf("%q compares cases along the axis %s, and only %s takes part. A trend needs at least two cases.",
					a.Text, axis[0], s.key(s.columns, line[0])),
				"Give the axis another value, or choose cases by another where.")
			return
		}
		lowered, diags := a.Lower(s.scopeIn(line[0], find))
		if t.report(diags...); diags.HasErrors() {
			return
		}
		lowered.Cases = nil
		for _, i := range line {
			lowered.Cases = append(lowered.Cases, s.key(s.columns, i))
			if !t.ruledOut(a, lowered, place{s, i}, find) {
				return
			}
		}
		t.span(s, lowered, s.combination(line[0], axis), len(lines) > 1)
	}
}

// over makes one assertion of an aggregate or quantifier for each combination of
// the axes that it does not run over.
func (t *Table) over(s *sheet, a *dsl.Assert, find *finder) {
	over := a.OverAxes()
	if len(over) == 0 {
		over = s.axisNames(s.allAxes())
	}
	cases := t.matching(s, a, find)
	lines := s.rowsOf(cases, over)
	for _, line := range lines {
		if t.late(a.Range) {
			return
		}
		var scopes []dsl.Scope
		for _, i := range line {
			scopes = append(scopes, s.scopeIn(i, find))
			find.places[s.key(s.columns, i)] = place{s, i}
		}
		lowered, diags := a.LowerOver(scopes)
		if t.report(diags...); diags.HasErrors() {
			return
		}
		if !t.showable(s, a, lowered) || !t.ruledOut(a, lowered, place{s, line[0]}, find) {
			return
		}
		t.span(s, lowered, s.combination(line[0], over), len(lines) > 1)
	}
}

// ascending orders values of an axis: numbers by size, in whatever order they are
// listed; all else has no order but that of the list.
func ascending(a, b any) int {
	x, ok := workload.Number(a)
	y, also := workload.Number(b)
	if !ok || !also {
		return 0
	}
	return cmp.Compare(x, y)
}

// finder finds cases for assertions that speak of other cases than their own.
// What it found it keeps: neighbouring cases ask alike.
type finder struct {
	table  *Table
	found  map[findKey][]string
	lines  map[string]map[string][]int32 // run, axes and whether in base units → text of the values → cases
	places map[string]place              // of the cases that were found
	scopes map[string]dsl.Scope
}

type place struct {
	sheet *sheet
	index int
}

func newFinder(t *Table) *finder {
	return &finder{
		table: t, found: map[findKey][]string{}, lines: map[string]map[string][]int32{},
		places: map[string]place{}, scopes: map[string]dsl.Scope{},
	}
}

type findKey struct {
	run, at string
	where   *dsl.Condition
}

// Find lists the keys of a run's cases with given values that satisfy a condition.
func (f *finder) Find(run string, at map[string]string, where *dsl.Condition) []string {
	s := f.table.sheet(run)
	if s == nil {
		return nil
	}
	var axes []int
	texts := map[string]string{}
	for i, a := range s.run.Axes {
		if text, ok := at[a.Name]; ok {
			axes = append(axes, i)
			texts[a.Name] = text
		}
	}
	key := findKey{run, Key("", texts), where}
	if keys, ok := f.found[key]; ok {
		return keys
	}
	keys := []string{}
	line := f.line(s, axes, false)[key.at]
	if line == nil {
		line = f.line(s, axes, true)[Key("", inBaseUnits(texts))]
	}
	for _, i := range line {
		if where != nil {
			if f.table.late(s.run.Range) {
				return nil
			}
			if ok, err := where.Eval(s.scope(int(i))); err != nil || !ok {
				continue // a condition of a known run was checked when it was compiled
			}
		}
		found := s.key(s.columns, int(i))
		f.places[found] = place{s, int(i)}
		keys = append(keys, found)
	}
	f.found[key] = keys
	return keys
}

// Scope is that of a case that Find gave.
func (f *finder) Scope(key string) (dsl.Scope, bool) {
	p, ok := f.places[key]
	if !ok {
		return dsl.Scope{}, false
	}
	scope, ok := f.scopes[key]
	if !ok {
		scope = p.sheet.scopeIn(p.index, f)
		f.scopes[key] = scope
	}
	return scope, true
}

// line gives a sheet's cases by the text of their values on some axes, as written or in base units.
func (f *finder) line(s *sheet, axes []int, base bool) map[string][]int32 {
	key := fmt.Sprint(s.run.Name, axes, base)
	if at, ok := f.lines[key]; ok {
		return at
	}
	c := s.by(axes)
	names := work(c, func(i int) string {
		texts := s.texts(s.columns, axes, i)
		if base {
			texts = inBaseUnits(texts)
		}
		return Key("", texts)
	})
	at := map[string][]int32{}
	for i := range s.live {
		at[names.at(i)] = append(at[names.at(i)], int32(i))
	}
	f.lines[key] = at
	return at
}

// inBaseUnits are texts that are equal where values of two runs' axes mean the same: 4096 and 4KiB.
func inBaseUnits(texts map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range texts {
		out[name] = text
		if q, err := quantity.Parse(text); err == nil {
			out[name] = strconv.FormatFloat(quantity.Round(q.Value), 'g', -1, 64)
		}
	}
	return out
}
