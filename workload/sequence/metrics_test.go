package sequence

import (
	"math"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

func span(start, end int64) move.Span { return move.Span{Start: start, End: end} }

func at(agreed, start, end int64) move.Played {
	return move.Played{Agreed: agreed, Start: start, End: end}
}

// moved is a rank with these spans.
func moved(rank int, spans ...move.Span) *move.Part {
	r := &move.Part{
		Rank: rank, Initiator: len(spans) > 0, Iterations: spans, Memcpy: 20e9, Ceiling: 10e9, CeilingBest: 12e9,
	}
	if len(spans) > 0 {
		r.Samples = &results.Samples{}
	}
	return r
}

func wantMetrics(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, w := range want {
		if v, ok := got[name]; !ok || math.Abs(v-w) > 1e-9*max(math.Abs(w), 1e-9) {
			t.Errorf("%s = %v (%v), want %v", name, v, ok, w)
		}
	}
}

// fourRanks is a matrix with these cells.
func fourRanks(t *testing.T, cells ...matrix.Cell) *matrix.Matrix {
	t.Helper()
	m, err := matrix.New(4, cells)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// inSequence is the second pattern of a sequence that ran twice, planned 1000 ns after the start of each iteration.
// Rank 0 sends 3000 bytes in all, rank 2 sends 6000, rank 1 gets 8000 and rank 3 is idle.
func inSequence(t *testing.T) (move.Spec, []*move.Part) {
	c := move.Spec{
		Pattern: move.MatrixPattern, Ranks: 4, Op: "write", Mode: "stream", BlockSize: 6000, Batch: 1, Threads: 1,
		Shards: 1,
		Matrix: fourRanks(t, matrix.Cell{From: 0, To: 1, Bytes: 2000}, matrix.Cell{From: 0, To: 2, Bytes: 1000},
			matrix.Cell{From: 2, To: 1, Bytes: 6000}),
		Step: &move.Step{Pattern: 1, Iterations: 2, Overlap: true, Due: quantity.Time(1000)},
	}
	// alone: 2000 ns each time
	a, b := moved(0, span(100, 1100), span(5000, 6000)), moved(2, span(100, 2100), span(5000, 7000))
	a.Steps, a.Began = []move.Played{at(11000, 11000, 12000), at(21500, 21600, 23600)}, []int64{10000, 20000}
	b.Steps, b.Began = []move.Played{at(11000, 11400, 14000), at(21500, 21500, 27500)}, []int64{10000, 20000}
	idle := moved(3)
	idle.Steps, idle.Began = []move.Played{at(11000, 0, 0), at(21500, 0, 0)}, []int64{10000, 20000}
	return c, []*move.Part{a, moved(1), b, idle}
}

// A pattern took 3000 and 6000 ns in the sequence, and 2000 ns isolated.
func TestSequenceMetrics(t *testing.T) {
	c, ranks := inSequence(t)
	c.Own = fourRanks(t, matrix.Cell{From: 2, To: 2, Bytes: 500})
	m, err := Metrics(c, ranks, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, m, map[string]float64{
		"latency": 4500e-9, "latency.min": 3000e-9, "latency.p50": 3000e-9, "latency.max": 6000e-9,
		"isolated_latency": 2000e-9, "isolated_latency.min": 2000e-9, "isolated_latency.p50": 2000e-9,
		"isolated_latency.max": 2000e-9,
		"slowdown":             2.25, "slowdown.p50": 1.5, "bytes": 9000, "bytes.own": 500, "bandwidth": 2,
		"isolated_bandwidth":   4.5,
		"bandwidth.per_sender": (3000/1500. + 6000/4300.) / 2, "bandwidth.min_sender": 6000 / 4300.,
		"skew": 400e-9, "skew.p50": 100e-9, "late": 400e-9, "drift": 250e-9, "drift.max": 500e-9,
		"ceiling": 8000 / 2000. / 10, "senders": 2, "receivers": 2,
	})
	k := Kind
	for _, metric := range k.Metrics {
		if _, ok := m[metric.Name]; !ok {
			t.Errorf("metric %s of the registry is not computed", metric.Name)
		}
	}
	for name := range m {
		if _, ok := k.Metric(name); !ok {
			t.Errorf("metric %s is not in the registry", name)
		}
	}
	if spans := Timeline(ranks); len(spans) != 2 || spans[0] != [2]float64{1e-6, 4e-6} ||
		spans[1] != [2]float64{1.5e-6, 7.5e-6} {
		t.Errorf("played %v", spans)
	}
}

// Ranks with contradictory iterations are rejected.
func TestTimelineOfContradictoryRanks(t *testing.T) {
	_, ranks := inSequence(t)
	ranks[2].Steps = append(ranks[2].Steps, at(1, 2, 3))
	if spans := Timeline(ranks); spans != nil {
		t.Errorf("played %v", spans)
	}
	_, ranks = inSequence(t)
	ranks[0].Began = nil
	if spans := Timeline(ranks); spans != nil {
		t.Errorf("played %v", spans)
	}
	if spans := Timeline([]*move.Part{moved(0)}); spans != nil {
		t.Errorf("played %v", spans)
	}
}

func TestIncompleteSequence(t *testing.T) {
	for want, spoil := range map[string]func(ranks []*move.Part){
		"rank 2 has 1 of 2 iterations":                func(r []*move.Part) { r[2].Steps = r[2].Steps[:1] },
		"rank 0 did not move anything in iteration 1": func(r []*move.Part) { r[0].Steps[1].Start = 0 },
		"isolated pattern: rank 2 has no":             func(r []*move.Part) { r[2].Iterations = nil },
		"pattern in its sequence: iteration 0 o":      func(r []*move.Part) { r[2].Steps[0].End = 5 },
	} {
		c, ranks := inSequence(t)
		spoil(ranks)
		if m, err := Metrics(c, ranks, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want %q", m, err, want)
		}
	}
}
