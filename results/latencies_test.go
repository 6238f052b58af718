package results_test

import (
	"slices"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// Whatever was recorded, counts and means are those of the library, and a quantile is
// the value that the library has for the latency of the nearest rank.
func TestLatenciesAreThoseOfHdrHistogram(t *testing.T) {
	phase.NotUnderRace(t)
	rapid.Check(t, func(t *rapid.T) {
		h := hdr.New(1, results.HistogramHighest, 3)
		for _, bits := range rapid.SliceOfN(rapid.IntRange(0, 39), 0, 50).Draw(t, "magnitudes") {
			v := rapid.Int64Range(1<<bits, 2<<bits-1).Draw(t, "value")
			if err := h.RecordValues(v, rapid.Int64Range(1, 1e9).Draw(t, "times")); err != nil {
				t.Fatal(err)
			}
		}
		counts := map[int]int64{}
		for i, n := range h.Export().Counts {
			if n > 0 {
				counts[i] = n
			}
		}
		l := results.NewLatencies(counts)
		if l.Count() != h.TotalCount() || l.Mean() != h.Mean() {
			t.Fatalf("%d latencies with mean %v, want %d with %v", l.Count(), l.Mean(), h.TotalCount(), h.Mean())
		}
		for _, q := range append(slices.Clone(quantiles),
			results.Quantile(rapid.Int64Range(1, 100_000).Draw(t, "quantile"))) {
			if got, want := l.Quantile(q), valueAtRank(h, nearestRank(h.TotalCount(), q), q); got != want {
				t.Fatalf("quantile %d of %d is %d, want %d", q, l.Count(), got, want)
			}
		}
	})
}

// valueAtRank walks the library's counters: the highest value that it cannot tell from
// the latency of this rank, or the lowest of the minimum.
func valueAtRank(h *hdr.Histogram, rank int64, q results.Quantile) int64 {
	before := int64(0)
	for _, bar := range h.Distribution() {
		if before += bar.Count; before >= rank && bar.Count > 0 {
			if q == results.Minimum {
				return bar.From
			}
			return bar.To
		}
	}
	return 0
}

// What a tampered file says beyond the layout is left out, as the library does.
func TestLatenciesOfStrangeCounters(t *testing.T) {
	n := len(hdr.New(1, results.HistogramHighest, 3).Export().Counts)
	l := results.NewLatencies(map[int]int64{n - 1: 3, n: 5, 1 << 40: 5, -1: 7, 100: -1})
	if l.Count() != 3 || l.Quantile(results.Maximum) != 1<<40-1 {
		t.Errorf("%d latencies up to %d, want 3 up to %d", l.Count(), l.Quantile(results.Maximum), int64(1<<40-1))
	}
}
