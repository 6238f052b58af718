package traffic

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// trafficCase has four ranks: rank 0 sends 3000 bytes in all, rank 2 sends 6000, rank 1 gets 8000 and rank 3 is idle.
func trafficCase(t *testing.T, op string) move.Spec {
	t.Helper()
	m, err := matrix.New(4, []matrix.Cell{
		{From: 0, To: 1, Bytes: 2000}, {From: 0, To: 2, Bytes: 1000}, {From: 2, To: 1, Bytes: 6000},
	})
	if err != nil {
		t.Fatal(err)
	}
	return move.Spec{
		Pattern: move.MatrixPattern, Matrix: m, Ranks: 4, Op: op, Mode: "stream", BlockSize: 6000, Batch: 1, Threads: 1,
		Shards: 1,
	}
}

func span(start, end int64) move.Span { return move.Span{Start: start, End: end} }

func delivery(peer int, iterations uint64, mean float64) move.Delivery {
	return move.Delivery{Peer: peer, Iterations: iterations, Mean: mean}
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

// An iteration lasts from the first start to the last end of all ranks.
func TestTrafficMetrics(t *testing.T) {
	a := moved(0, span(100, 1100), span(5000, 6000), span(9000, 10000))
	b := moved(2, span(200, 2100), span(4900, 5900), span(9000, 13000))
	b.Ceiling, b.CeilingBest = 20e9, 24e9
	idle := moved(1)
	a.Usage, b.Usage, idle.Usage = move.Usage{CPU: 1e-6, Switches: 1}, move.Usage{CPU: 2e-6, Switches: 2},
		move.Usage{CPU: 6e-6, Switches: 4}
	idle.Prep, idle.Ceiling, idle.Memcpy = move.Prep{Alloc: 1, Register: 2, Connect: 3}, 99e9, 99e9
	a.Delivered, b.Delivered = []move.Delivery{delivery(1, 3, 1e-6), delivery(2, 3, 0.5e-6)},
		[]move.Delivery{delivery(1, 3, 2e-6)}
	a.Stages.Listed = move.Stage{Stamps: 2, Mean: 8e-9}
	a.Stages.Prepare, b.Clock = 7e-9, move.Clock{Resolution: 1e-9, Cost: 25e-9}
	c := trafficCase(t, "write")
	c.Own = ownCells(t, 2, 500)
	m, err := Metrics(c, []*move.Part{a, idle, b, moved(3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	avg := (2000. + 1100 + 4000) / 3 // ns
	wantMetrics(t, m, map[string]float64{
		"latency.min": 1100e-9, "latency.p50": 2000e-9, "latency.p90": 4000e-9, "latency.p95": 4000e-9,
		"latency.p99": 4000e-9, "latency.max": 4000e-9, "latency.avg": avg * 1e-9,
		"bandwidth": 9000 / avg, "bytes": 9000, "bytes.own": 500, "senders": 2, "receivers": 2, "skew": 100e-9,
		"skew.p50":             100e-9,
		"bandwidth.per_sender": (3000/1000. + 6000/2300.) / 2, "bandwidth.min_sender": 6000 / 2300.,
		"bandwidth.per_receiver": (8000/2000. + 1000/500.) / 2, "bandwidth.min_receiver": 2,
		"latency.max_receiver": 2e-6,
		"bottleneck.bytes":     8000, "bottleneck.bandwidth": 8000 / avg, "ceiling.bandwidth": 15,
		"ceiling": 8000 / avg / 15, "ceiling.memcpy": 40,
		"ceiling.best": max(3000/avg/12, 6000/avg/24), // of the initiators, each by its own path
		"prep.alloc":   1, "prep.register": 2, "prep.connect": 3, "prep.request": 7e-9, "prep.lists": 8e-9,
		"cpu_time_per_gb": 9e-6 / 27000e-9, "context_switches": 7, "clock.resolution": 1e-9, "clock.cost": 25e-9,
	})
	if len(m) != len(Kind.Metrics) {
		t.Errorf("%d metrics, and the registry has %d: %v", len(m), len(Kind.Metrics), m)
	}
}

// ownCells are the bytes that one rank copies.
func ownCells(t *testing.T, rank int, bytes int64) *matrix.Matrix {
	t.Helper()
	m, err := matrix.New(4, []matrix.Cell{{From: rank, To: rank, Bytes: bytes}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A copy within a rank takes time of the iteration, even if the rank does nothing else, and only bytes.own counts its
// bytes.
func TestOwnCellsTakeTimeAndNoBandwidth(t *testing.T) {
	c := trafficCase(t, "write")
	c.Own = ownCells(t, 3, 500)
	copier := moved(3, span(50, 3100))
	copier.Initiator, copier.Samples = false, nil
	ranks := []*move.Part{moved(0, span(100, 1100)), moved(1), moved(2, span(200, 2100)), copier}
	m, err := Metrics(c, ranks, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, m, map[string]float64{
		"latency.avg": 3050e-9, "bandwidth": 9000 / 3050., "bytes": 9000, "bytes.own": 500, "senders": 3,
		"skew": 100e-9, "bandwidth.min_sender": 3, "ceiling.memcpy": 40,
	})
	copier.Iterations = nil
	if _, err := Metrics(c, ranks, nil); err == nil ||
		!strings.Contains(err.Error(), "rank 3 has no iterations, and it copies 500 bytes in each") {
		t.Error(err)
	}
}

// With op read the receivers initiate.
func TestTrafficMetricsOfReads(t *testing.T) {
	m, err := Metrics(trafficCase(t, "read"), []*move.Part{
		moved(0), moved(1, span(0, 1000)), moved(2, span(500, 800)), moved(3),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, m, map[string]float64{
		"latency.avg": 1000e-9, "bandwidth.per_sender": (8000/1000. + 1000/300.) / 2,
		"bandwidth.min_sender": 1000 / 300., "ceiling.best": 8000 / 1000. / 12,
		"senders": 2, "receivers": 2, "bottleneck.bytes": 8000, "skew": 500e-9,
	})
}

func TestTrafficWithoutMeasurements(t *testing.T) {
	whole := func(n int) []move.Span { return slices.Repeat([]move.Span{span(1, 2)}, n) }
	broken := func(spoil func(r *move.Part)) []*move.Part {
		r := moved(0, whole(2)...)
		spoil(r)
		return []*move.Part{r, moved(1), moved(2, whole(2)...), moved(3)}
	}
	for want, ranks := range map[string][]*move.Part{
		"no rank has iterations":                            {moved(0), moved(1), moved(2), moved(3)},
		"rank 2 has no iterations, and it moves 6000 bytes": {moved(0, whole(2)...), moved(1), moved(2), moved(3)},
		"rank 0 has no iterations, and it moves 3000 bytes": {moved(1), moved(2, whole(2)...)},
		"rank 0 has 2 iterations and rank 2 3":              {moved(0, whole(2)...), moved(2, whole(3)...)},
		"rank 4 is not one of the 4 ranks":                  {moved(4, whole(2)...)},
		"iteration 1 of rank 0 ends 5 ns before it starts": broken(
			func(r *move.Part) { r.Iterations = []move.Span{span(1, 2), span(10, 5)} }),
		"metric ceiling.best is NaN":    broken(func(r *move.Part) { r.CeilingBest = math.NaN() }),
		"metric cpu_time_per_gb is NaN": broken(func(r *move.Part) { r.Usage.CPU = math.NaN() }),
		"metric prep.alloc is +Inf":     broken(func(r *move.Part) { r.Prep.Alloc = math.Inf(1) }),
	} {
		if m, err := Metrics(trafficCase(t, "write"), ranks, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want %q", m, err, want)
		}
	}
}

// A span below the clock's resolution has no infinite rate, and metrics without a probe are absent.
func TestTrafficOfNoTime(t *testing.T) {
	a, b := moved(0, span(5, 5)), moved(2, span(5, 5))
	a.Ceiling, a.CeilingBest, a.Memcpy, b.Ceiling, b.CeilingBest, b.Memcpy = 0, 0, 0, 0, 0, 0
	m, err := Metrics(trafficCase(t, "write"), []*move.Part{a, b}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, m, map[string]float64{
		"latency.min": 1e-9, "bandwidth": 9000, "bandwidth.min_sender": 3000, "skew": 0,
	})
	for _, name := range []string{"ceiling", "ceiling.best", "ceiling.bandwidth", "ceiling.memcpy"} {
		if v, ok := m[name]; ok {
			t.Errorf("%s = %v of nothing", name, v)
		}
	}
}
