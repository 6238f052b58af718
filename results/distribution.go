package results

import (
	"cmp"
	"math"
	"slices"
)

// Distribution is the distribution of a launch's values behind its quantile metrics. Merged over launches
// it gives the quantile of all values, unlike a mean of quantiles.
//
// The largest values are kept individually; below, neighbours are merged to their mean, so that a quantile
// is off by at most 3 % of the share beyond it, or by 0.5 % of all.
type Distribution struct {
	// Steps are the values in ns, ascending: the first, then increments.
	Steps     []int64 `json:"steps_ns" doc:"The values in ns, ascending: the first, and of each other by how much it is larger than the one before."`
	Counts    []int64 `json:"counts" doc:"How often there is each of the values. Where there are many, neighbours stand as their mean."`
	Unbounded int64   `json:"unbounded,omitzero" doc:"How many values have no end: of requests that failed."`
}

// Distributions are by family of metrics (Metric.Family).
type Distributions map[string]*Distribution

// Add stores values in ns, which it sorts, and the number of unbounded ones. On a nil map it does nothing.
func (d Distributions) Add(family string, values []float64, unbounded int) {
	if d == nil || len(values)+unbounded == 0 {
		return
	}
	slices.Sort(values)
	var whole, counts []int64
	for _, v := range values {
		w := int64(math.Round(v))
		if n := len(whole); n > 0 && whole[n-1] == w {
			counts[n-1]++
			continue
		}
		whole, counts = append(whole, w), append(counts, 1)
	}
	d[family] = thinned(whole, counts, int64(unbounded))
}

// Distribution takes each latency as the upper end of its counter, as Quantile does.
func (l *Latencies) Distribution() *Distribution {
	values, counts := make([]int64, len(l.counters)), make([]int64, len(l.counters))
	before := int64(0)
	for k, i := range l.counters {
		low, width := counterRange(i)
		values[k], counts[k] = low+width-1, l.upTo[k]-before
		before = l.upTo[k]
	}
	return thinned(values, counts, 0)
}

// Limits of merging, see Distribution.
const (
	keptApart  = 64
	mergedTail = 0.03
	mergedAll  = 0.005
)

func thinned(values, counts []int64, unbounded int64) *Distribution {
	d := &Distribution{Unbounded: unbounded}
	beyond, all := unbounded, unbounded
	for _, n := range counts {
		all += n
	}
	var merged []int64 // from the largest down
	for i := len(values) - 1; i >= 0; {
		n, sum := counts[i], float64(values[i])*float64(counts[i])
		room := min(mergedTail*float64(beyond), mergedAll*float64(all))
		for i--; i >= 0 && beyond >= keptApart && float64(n+counts[i]) <= room; i-- {
			n, sum = n+counts[i], sum+float64(values[i])*float64(counts[i])
		}
		beyond += n
		merged = append(merged, int64(math.Round(sum/float64(n))))
		d.Counts = append(d.Counts, n)
	}
	slices.Reverse(merged)
	slices.Reverse(d.Counts)
	last := int64(0)
	for _, v := range merged {
		d.Steps = append(d.Steps, v-last)
		last = v
	}
	return d
}

// Beside counts the values below and above v, in s; values without an end are above.
func (d *Distribution) Beside(v float64) (below, above int64) {
	at := int64(0)
	for i, step := range d.Steps {
		at += step
		switch x := float64(at) * 1e-9; {
		case x < v:
			below += d.Counts[i]
		case x > v:
			above += d.Counts[i]
		}
	}
	return below, above + d.Unbounded
}

// Merged is the union of several distributions.
type Merged struct {
	values []float64 // s
	upTo   []int64
	count  int64 // including unbounded ones
}

// Merge merges distributions; nil if one is missing.
func Merge(all []*Distribution) *Merged {
	type entry struct {
		value float64
		count int64
	}
	var entries []entry
	m := &Merged{}
	for _, d := range all {
		if d == nil || len(d.Steps) != len(d.Counts) {
			return nil
		}
		value := int64(0)
		for i, step := range d.Steps {
			value += step
			entries = append(entries, entry{float64(value) * 1e-9, d.Counts[i]})
			m.count += d.Counts[i]
		}
		m.count += d.Unbounded
	}
	if m.count == 0 {
		return nil
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.value, b.value) })
	total := int64(0)
	for _, e := range entries {
		total += e.count
		m.values, m.upTo = append(m.values, e.value), append(m.upTo, total)
	}
	return m
}

// Count is the number of values.
func (m *Merged) Count() int64 { return m.count }

// Rank returns the value of a rank from 1 in s: 0 below the first, Unbounded beyond the last bounded
// value.
func (m *Merged) Rank(rank int64) float64 {
	if rank < 1 {
		return 0
	}
	if k, _ := slices.BinarySearch(m.upTo, rank); k < len(m.values) {
		return m.values[k]
	}
	return Unbounded
}
