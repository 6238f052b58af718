package ordered

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Lists and groups keep every value, in the order of the first ones.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "values")
		var list []int
		var groups Groups[int, int]
		for i, v := range values {
			list = Append(list, v)
			groups.Add(v, i)
		}
		if !slices.Equal(list, groups.Keys()) || len(maps.Collect(groups.All())) != len(list) {
			t.Fatalf("%v and %v", list, groups.Keys())
		}
		for i, v := range values {
			of := groups.Of(v)
			if !slices.Contains(of, i) || !slices.IsSorted(of) || slices.Index(values, v) != of[0] {
				t.Fatalf("group of %d is %v", v, of)
			}
		}
		if !slices.IsSortedFunc(list, func(a, b int) int { return slices.Index(values, a) - slices.Index(values, b) }) {
			t.Fatalf("%v of %v", list, values)
		}
	})
}
