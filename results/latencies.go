package results

import (
	"maps"
	"slices"
)

// Latencies is a distribution of latencies in ns, summed from histograms in the layout of Samples. It
// stores only non-zero counters: some hundreds of 31 thousand. Results equal HdrHistogram's except for the
// ranks of quantiles.
type Latencies struct {
	counters []int   // ascending
	upTo     []int64 // latencies up to and including this counter
}

// NewLatencies sums counters by index; invalid indexes and counts below one are ignored.
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

// Count is the number of latencies.
func (l *Latencies) Count() int64 {
	if len(l.upTo) == 0 {
		return 0
	}
	return l.upTo[len(l.upTo)-1]
}

// Mean is the arithmetic mean with each latency at the middle of its counter; 0 if there are none.
func (l *Latencies) Mean() float64 {
	mean, before := 0., int64(0)
	for k, i := range l.counters {
		low, width := counterRange(i)
		mean += float64(l.upTo[k]-before) * float64(low+width>>1) / float64(l.Count())
		before = l.upTo[k]
	}
	return mean
}

// Quantile is the upper end of the counter with the nearest rank, for Minimum the lower end of the first;
// 0 if there are none.
func (l *Latencies) Quantile(q Quantile) int64 { return l.quantile(q, NearestRank) }

// RoundedQuantile is the quantile as defined before NearestRank, to verify older documents against their
// samples.
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

// counterRange is the smallest value of a counter and the number of its values.
func counterRange(i int) (low, width int64) {
	if i < 2048 {
		return int64(i), 1
	}
	bucket := i>>10 - 1
	return int64(i&1023+1024) << bucket, 1 << bucket
}
