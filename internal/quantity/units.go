package quantity

import (
	"cmp"
	"maps"
	"slices"
)

// UnitGroup has the symbols of the units of a dimension, from small to large.
type UnitGroup struct {
	Dim     Dimension
	Symbols []string
}

// Units are all units with a symbol, by dimension. A second spelling of a unit follows the first.
func Units() []UnitGroup {
	out := []UnitGroup{{Dim: SizeDim}, {Dim: RateDim}, {Dim: TimeDim}, {Dim: Frequency}, {Dim: TimeEach}, {Dim: Number}}
	symbols := slices.SortedFunc(maps.Keys(units), func(a, b string) int {
		return cmp.Or(cmp.Compare(units[a].Factor, units[b].Factor), cmp.Compare(a, b))
	})
	for i := range out {
		for _, symbol := range symbols {
			if symbol != "" && units[symbol].Dim == out[i].Dim {
				out[i].Symbols = append(out[i].Symbols, symbol)
			}
		}
	}
	return out
}
