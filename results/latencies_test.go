package results_test

import (
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"weir/results"
)

// Whatever was recorded, the answers are those of the library.
func TestLatenciesAreThoseOfHdrHistogram(t *testing.T) {
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
		for _, p := range []float64{0, 0.1, 25, 50, 90, 95, 99, 99.9, 99.99, 100, rapid.Float64Range(0, 100).Draw(t, "percentile")} {
			if got, want := l.Percentile(p), h.ValueAtPercentile(p); got != want {
				t.Fatalf("percentile %v is %d, want %d", p, got, want)
			}
		}
	})
}

// What a tampered file says beyond the layout is left out, as the library does.
func TestLatenciesOfStrangeCounters(t *testing.T) {
	n := len(hdr.New(1, results.HistogramHighest, 3).Export().Counts)
	l := results.NewLatencies(map[int]int64{n - 1: 3, n: 5, 1 << 40: 5, -1: 7, 100: -1})
	if l.Count() != 3 || l.Percentile(100) != 1<<40-1 {
		t.Errorf("%d latencies up to %d, want 3 up to %d", l.Count(), l.Percentile(100), int64(1<<40-1))
	}
}
