package results

import (
	"maps"
	"slices"
)

// Latencies is a distribution of latencies in ns, made of the counters of one or
// several histograms of the layout that Samples have. It knows only the counters
// that are not zero, which are some hundreds of 31 thousand; its answers are those
// of HdrHistogram, but for the ranks of quantiles.
type Latencies struct {
	counters []int   // ascending
	upTo     []int64 // how many latencies are in this counter and those before
}

// NewLatencies sums the counters by index; those that are not of the layout, and
// counts below one, are left out.
func NewLatencies(counts map[int]int64) *Latencies {
	const top = 31 << 10 // 2048 counters, and 1024 for each further power of two up to 2⁴⁰
	l := &Latencies{}
	total := int64(0)
	for _, i := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[i]; n > 0 && i >= 0 && i < top {
			total += n
			l.counters = append(l.counters, i)
			l.upTo = append(l.upTo, total)
		}
	}
	return l
}

// Count is how many latencies there are.
func (l *Latencies) Count() int64 {
	if len(l.upTo) == 0 {
		return 0
	}
	return l.upTo[len(l.upTo)-1]
}

// Mean is the arithmetic mean, each latency taken as the middle of its counter; 0
// if there are none.
func (l *Latencies) Mean() float64 {
	mean, before := 0., int64(0)
	for k, i := range l.counters {
		low, width := counterRange(i)
		mean += float64(l.upTo[k]-before) * float64(low+width>>1) / float64(l.Count())
		before = l.upTo[k]
	}
	return mean
}

// Quantile is the upper end of the counter that holds the latency of the nearest rank;
// of Minimum it is the lower end of the first. It is 0 if there are none.
func (l *Latencies) Quantile(q Quantile) int64 { return l.quantile(q, NearestRank) }

// RoundedQuantile is what versions before NearestRank took for a quantile. It tells
// whether a document of theirs is what its samples say.
func (l *Latencies) RoundedQuantile(q Quantile) int64 { return l.quantile(q, roundedRank) }

func (l *Latencies) quantile(q Quantile, rank func(n int64, q Quantile) int64) int64 {
	if len(l.counters) == 0 {
		return 0
	}
	k, _ := slices.BinarySearch(l.upTo, rank(l.Count(), q))
	low, width := counterRange(l.counters[k])
	if q == Minimum {
		return low
	}
	return low + width - 1
}

// counterRange is the least value of a counter, and how many values it has.
func counterRange(i int) (low, width int64) {
	if i < 2048 {
		return int64(i), 1
	}
	bucket := i>>10 - 1
	return int64(i&1023+1024) << bucket, 1 << bucket
}
