package results_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

// recorded is a histogram's counters in the form that an engine hands over.
func recorded(t *testing.T, latencies []int64) map[int]int64 {
	t.Helper()
	h := hdr.New(1, results.HistogramHighest, 3)
	for _, ns := range latencies {
		if err := h.RecordValue(ns); err != nil {
			t.Fatal(err)
		}
	}
	counts := map[int]int64{}
	for i, n := range h.Export().Counts {
		if n != 0 {
			counts[i] = n
		}
	}
	return counts
}

func drawLatencies(n int) []int64 {
	r := rand.New(rand.NewPCG(7, 7))
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(math.Exp(9 + r.NormFloat64()*1.5))
	}
	return out
}

func samples(t *testing.T) *results.Samples {
	return &results.Samples{
		Case: "bw[block_size=64MiB]", Launch: 2, Rank: 1, Role: "initiator", Ops: 1000, Bytes: 1 << 40, Start: 5,
		End:   1 << 50,
		Every: 1, ClockNS: 21.5, Counts: recorded(t, drawLatencies(1000)),
		First: []int64{900, 800, 1 << 39}, Last: []int64{0, -1, 700},
		Progress: []results.Progress{{Time: 5, Bytes: 0}, {Time: 100, Bytes: 1 << 20}, {Time: 90, Bytes: 1 << 40}},
	}
}

func TestSamplesRoundTrip(t *testing.T) {
	for name, want := range map[string]*results.Samples{"full": samples(t), "empty": {Counts: map[int]int64{}}} {
		var b bytes.Buffer
		if err := want.Write(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "s.bin")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := results.ReadSamplesFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A file that was cut short anywhere is refused, never read as fewer samples.
func TestSamplesCutShort(t *testing.T) {
	var b bytes.Buffer
	if err := samples(t).Write(&b); err != nil {
		t.Fatal(err)
	}
	for n := range b.Len() {
		if _, err := results.ReadSamples(bytes.NewReader(b.Bytes()[:n])); err == nil {
			t.Fatalf("read %d of %d bytes without an error", n, b.Len())
		}
	}
}

func TestLatenciesHaveTheRightQuantiles(t *testing.T) {
	latencies := drawLatencies(20000)
	l := results.NewLatencies(recorded(t, latencies))
	slices.Sort(latencies)
	if l.Count() != int64(len(latencies)) {
		t.Fatalf("%d counts, want %d", l.Count(), len(latencies))
	}
	for _, q := range quantiles {
		want := float64(latencies[nearestRank(int64(len(latencies)), q)-1])
		if got := float64(l.Quantile(q)); math.Abs(got/want-1) > 2e-3 {
			t.Errorf("quantile %d is %v, want %v within the 3 digits of the layout", q, got, want)
		}
	}
}

// Histograms of two ranks add up to the histogram of both.
func TestHistogramsAddUp(t *testing.T) {
	all := drawLatencies(2000)
	sum := recorded(t, all[:500])
	for i, n := range recorded(t, all[500:]) {
		sum[i] += n
	}
	if diff := cmp.Diff(recorded(t, all), sum); diff != "" {
		t.Errorf("the merged histogram is another one: %s", diff)
	}
}

// Whatever is in a file, reading it ends, and what was read can be written and read again.
func FuzzReadSamples(f *testing.F) {
	var b bytes.Buffer
	s := &results.Samples{
		Case: "c", Ops: 1, Counts: map[int]int64{3: 1, 900: 2}, First: []int64{1}, Last: []int64{2},
		Progress: []results.Progress{{Time: 1, Bytes: 2}},
	}
	if err := s.Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("WEIRSMP1\x02{}\x00\x00\x00\x00"))
	f.Add([]byte("WEIRSMP1\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := results.ReadSamples(bytes.NewReader(data))
		if err != nil {
			return
		}
		results.NewLatencies(s.Counts).Mean()
		var b bytes.Buffer
		if err := s.Write(&b); err != nil {
			t.Fatal(err)
		}
		back, err := results.ReadSamples(&b)
		if err != nil {
			t.Fatalf("what was read and written cannot be read: %v", err)
		}
		if diff := cmp.Diff(s, back); diff != "" {
			t.Fatal(diff)
		}
	})
}
