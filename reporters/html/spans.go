package html

import (
	"cmp"
	"slices"
)

// pixels is the approximate width of a timeline: closer spans are indistinguishable.
const pixels = 1000

// Merged joins adjacent spans of a row less than half a pixel apart, with their number as text by count;
// failures are never joined with others. Spans with groups or parts of rows are unchanged.
func Merged(all []Span, count func(n int) string) []Span {
	if len(all) == 0 {
		return nil
	}
	low, high := all[0].From, all[0].To
	for _, s := range all {
		low, high = min(low, s.From), max(high, s.To)
	}
	unit := (high - low) / pixels
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.From, b.From))
	})
	type kind struct {
		row int
		bad bool
	}
	type run struct{ index, many int }
	var out []Span
	last := map[kind]run{}
	for _, s := range sorted {
		k := kind{s.Row, s.Sign != ""}
		r, ok := last[k]
		if ok {
			before := &out[r.index]
			near := s.From-before.To < unit/2 && (r.many > 1 || before.To-before.From < 2*unit) && s.To-s.From < 2*unit
			if near {
				r.many++
				last[k] = r
				before.To, before.Says = max(before.To, s.To), count(r.many)
				continue
			}
		}
		last[k] = run{len(out), 1}
		out = append(out, s)
	}
	// Failures are drawn last, on top.
	slices.SortStableFunc(out, func(a, b Span) int { return cmp.Compare(len(a.Sign), len(b.Sign)) })
	return out
}
