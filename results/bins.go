package results

import (
	"math"
	"slices"
)

// Bin is the number of values from Low to below High.
type Bin struct {
	Low, High float64
	Count     int64
}

// Bins groups the latencies into at most `most` bins of equal widths on a logarithmic axis. Latencies of a
// counter are counted at its middle.
func (l *Latencies) Bins(most int) []Bin {
	values, counts := make([]float64, len(l.counters)), make([]int64, len(l.counters))
	before := int64(0)
	for k, i := range l.counters {
		low, width := counterRange(i)
		values[k], counts[k] = float64(low)+float64(width)/2, l.upTo[k]-before
		before = l.upTo[k]
	}
	return bins(values, counts, most)
}

// BinsOf groups values into at most `most` bins: of equal widths on a logarithmic axis if all are above
// zero, otherwise on a linear one.
func BinsOf(values []float64, most int) []Bin {
	sorted := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	slices.Sort(sorted)
	counts := make([]int64, len(sorted))
	for i := range counts {
		counts[i] = 1
	}
	return bins(sorted, counts, most)
}

// bins groups ascending values.
func bins(values []float64, counts []int64, most int) []Bin {
	if len(values) == 0 || most < 1 {
		return nil
	}
	low, high := values[0], values[len(values)-1]
	if low == high {
		n := int64(0)
		for _, c := range counts {
			n += c
		}
		return []Bin{{low, high, n}}
	}
	to, from := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if low > 0 {
		to, from = math.Log, math.Exp
	}
	out := make([]Bin, most)
	first, width := to(low), (to(high)-to(low))/float64(most)
	for i := range out {
		out[i].Low, out[i].High = from(first+float64(i)*width), from(first+float64(i+1)*width)
	}
	out[0].Low, out[most-1].High = low, high
	for k, v := range values {
		i := min(max(int((to(v)-first)/width), 0), most-1)
		out[i].Count += counts[k]
	}
	return out
}
