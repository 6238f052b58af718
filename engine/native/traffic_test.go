package native

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

func matrixOf(t testing.TB, ranks int, cells ...matrix.Cell) *matrix.Matrix {
	t.Helper()
	m, err := matrix.New(ranks, cells)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// generated unwraps the result of a generator of package matrix.
func generated(m *matrix.Matrix, err error) *matrix.Matrix {
	if err != nil {
		panic(err)
	}
	return m
}

// trafficOf returns the options of a case of workload traffic.
func trafficOf(m *matrix.Matrix, change ...func(*move.Spec)) move.Spec {
	return options(quantity.Size(m.Largest()), append([]func(*move.Spec){func(o *move.Spec) {
		o.Pattern, o.Ranks, o.Shards = move.MatrixPattern, int64(m.Ranks()), 1
		o.Matrix, o.Own = m.Split()
		o.Verify, o.Iterations, o.Warmup = "full", 7, 2
	}}, change...)...)
}

func sharded(n int64) func(*move.Spec) {
	return func(o *move.Spec) { o.Shards = n }
}

// matrices returns examples of matrices; in "uneven" rank 4 has nothing, rank 3 only receives and rank 5 only
// sends; in "own" rank 2 only receives and copies, rank 3 only copies, and in "example", which is that of
// ct-perftest, so does none.
func matrices(t testing.TB) map[string]*matrix.Matrix {
	return map[string]*matrix.Matrix{
		"uniform": generated(matrix.Uniform(4, 70001)),
		"ring":    generated(matrix.Ring(5, 5000)),
		"incast":  generated(matrix.Incast(4, 2, 100_003)),
		"outcast": generated(matrix.Outcast(4, 1, 4097)),
		"uneven": matrixOf(t, 6, matrix.Cell{From: 0, To: 1, Bytes: 1}, matrix.Cell{From: 0, To: 3, Bytes: 3 << 20},
			matrix.Cell{From: 1, To: 2, Bytes: 129}, matrix.Cell{From: 2, To: 1, Bytes: 65537},
			matrix.Cell{From: 5, To: 0, Bytes: 2}, matrix.Cell{From: 5, To: 3, Bytes: 1000}),
		"own": matrixOf(t, 4, matrix.Cell{From: 0, To: 0, Bytes: 3<<20 + 1},
			matrix.Cell{From: 0, To: 1, Bytes: 5000}, matrix.Cell{From: 1, To: 2, Bytes: 1},
			matrix.Cell{From: 2, To: 2, Bytes: 1}, matrix.Cell{From: 3, To: 3, Bytes: 70001}),
		"example": matrixOf(t, 4, matrix.Cell{From: 0, To: 2, Bytes: 1 << 20}, matrix.Cell{From: 0, To: 3,
			Bytes: 1 << 20}, matrix.Cell{From: 1, To: 2, Bytes: 1 << 20}, matrix.Cell{From: 1, To: 3, Bytes: 1 << 20},
			matrix.Cell{From: 2, To: 3, Bytes: 5 << 10}, matrix.Cell{From: 3, To: 3, Bytes: 5 << 10}),
		"one": matrixOf(t, 3, matrix.Cell{From: 2, To: 0, Bytes: 1}),
	}
}

// Each cell arrives at its place in every iteration, over every fabric and split into any number of requests;
// exactly the initiators have a span for each iteration.
func TestTraffic(t *testing.T) {
	phase.Long(t)
	eachPath(t, func(t *testing.T, w testPath) {
		if !w.puts() {
			t.Skip("tagged messages carry nothing else")
		}
		for name, m := range matrices(t) {
			if name != "uneven" && (name != "own" || w.slow()) && (!w.every || !phase.Whole()) {
				continue // those have each kind of rank
			}
			t.Run(name, func(t *testing.T) {
				short := func(o *move.Spec) {
					if w.slow() {
						o.Iterations, o.Warmup = 2, 1
					}
				}
				cases := []move.Spec{trafficOf(m, w.change, short), trafficOf(m, w.change, short, sharded(3))}
				if w.reads() {
					cases = append(cases, trafficOf(m, w.change, short, read, sharded(5)))
				}
				for k, results := range runCases(t, w.fabric, m.Ranks(), cases...) {
					checkTraffic(t, cases[k], results)
				}
			})
		}
	})
}

func checkTraffic(t *testing.T, o move.Spec, ranks []*move.Part) {
	t.Helper()
	sent, received := make([]uint64, len(ranks)), make([]uint64, len(ranks))
	for c := range o.Matrix.Cells() {
		sent[c.From] += uint64(c.Bytes)
		received[c.To] += uint64(c.Bytes)
	}
	if o.Op == "read" {
		sent = received
	}
	for rank, r := range ranks {
		moves, copies := sent[rank] > 0, o.OwnBytes(rank) > 0
		if !r.Verified || r.Initiator != moves || (r.Samples != nil) != moves ||
			len(r.Iterations) > 0 != (moves || copies) {
			t.Errorf("rank %d: verified %v, initiator %v, has samples %v and %d iterations", rank, r.Verified,
				r.Initiator, r.Samples != nil, len(r.Iterations))
		}
		if copies && !moves {
			checkSpans(t, rank, int(o.Iterations), r.Iterations)
		}
		if !moves {
			continue
		}
		if s := r.Samples; s.Ops != uint64(o.Iterations) || s.Bytes != uint64(o.Iterations)*sent[rank] || s.Every != 1 {
			t.Errorf("rank %d: %d iterations and %d bytes, one in %d stamped", rank, s.Ops, s.Bytes, s.Every)
		}
		if r.Ceiling <= 0 || r.CeilingBest < r.Ceiling || r.Memcpy <= 0 ||
			o.Step == nil && r.Stages.Post.Stamps != uint64(o.Iterations) {
			t.Errorf("rank %d: ceiling %v, at best %v, memcpy %v, posting %+v", rank, r.Ceiling, r.CeilingBest,
				r.Memcpy, r.Stages.Post)
		}
		checkSpans(t, rank, int(o.Iterations), r.Iterations)
		if targets := len(o.Targets(rank)); o.Step == nil && len(r.Delivered) != targets {
			t.Errorf("rank %d has times of %d of its %d cells", rank, len(r.Delivered), targets)
		}
		for _, d := range r.Delivered {
			if last := r.Iterations[len(r.Iterations)-1]; d.Mean <= 0 ||
				d.Mean > float64(last.End-r.Iterations[0].Start)/1e9+1 {
				t.Errorf("rank %d: its cell for rank %d took %v s", rank, d.Peer, d.Mean)
			}
		}
	}
	// no iteration begins before the one before has ended everywhere
	for i := 1; i < int(o.Iterations); i++ {
		for rank, r := range ranks {
			for other, p := range ranks {
				if len(r.Iterations) > i && len(p.Iterations) > i && r.Iterations[i].Start < p.Iterations[i-1].End {
					t.Errorf("rank %d begins iteration %d at %d, before rank %d has ended the one before at %d", rank,
						i, r.Iterations[i].Start, other, p.Iterations[i-1].End)
				}
			}
		}
	}
	metrics, err := metricsOf(o, ranks)
	if err != nil {
		t.Fatal(err)
	}
	if metrics["bytes"] != float64(o.Matrix.Total()) || metrics["latency.min"] <= 0 {
		t.Errorf("metrics %v", metrics)
	}
	if own, has := metrics["bytes.own"]; has != (o.Own != nil) || has && own != float64(o.Own.Total()) {
		t.Errorf("bytes.own is %v", own)
	}
	t.Logf("%s in %d: p50 %.3g us, skew %.3g us, %.3g GB/s, ceiling %.3g, best %.3g", o.Op, o.Shards,
		metrics["latency.p50"]*1e6, metrics["skew"]*1e6, metrics["bandwidth"], metrics["ceiling"],
		metrics["ceiling.best"])
}

func checkSpans(t *testing.T, rank, want int, spans []move.Span) {
	t.Helper()
	if len(spans) != want {
		t.Errorf("rank %d has %d iterations, want %d", rank, len(spans), want)
	}
	for i, s := range spans {
		if s.Start <= 0 || s.End < s.Start || i > 0 && s.Start < spans[i-1].End {
			t.Errorf("rank %d: iteration %d is from %d to %d: %v", rank, i, s.Start, s.End, spans)
			return
		}
	}
}

// Cells of any sizes arrive complete, however they are split.
func TestAnyMatrix(t *testing.T) {
	phase.Long(t)
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 6).Draw(rt, "ranks")
		var list []matrix.Cell
		for from := range ranks {
			for to := range ranks {
				if rapid.Bool().Draw(rt, "sends") {
					list = append(list, matrix.Cell{
						From: from, To: to, Bytes: rapid.Int64Range(1, 9000).Draw(rt, "bytes"),
					})
				}
			}
		}
		if !slices.ContainsFunc(list, func(c matrix.Cell) bool { return c.From != c.To }) {
			list = append(list, matrix.Cell{From: 0, To: 1, Bytes: 5})
		}
		o := trafficOf(matrixOf(t, ranks, list...), sharded(rapid.Int64Range(1, 300).Draw(rt, "shards")),
			func(o *move.Spec) {
				o.Op = rapid.SampledFrom([]string{"write", "read"}).Draw(rt, "op")
				o.Iterations, o.Warmup = rapid.Int64Range(1, 5).Draw(rt, "iterations"),
					rapid.Int64Range(0, 2).Draw(rt, "warmup")
			})
		checkTraffic(t, o, runCases(t, "shm", ranks, o)[0])
	})
}

// Ranks on other hosts report their times by the first host's clock.
func TestTrafficBetweenHosts(t *testing.T) {
	o := trafficOf(matrices(t)["uneven"], sharded(2))
	ranks := onNodes(t, "tcp", []string{"a", "b", "a", "b", "c", "c"}, o)
	for rank, r := range ranks {
		for i, s := range r.Iterations {
			// all of them have one clock here, with a measured offset of at most a message's time
			if apart := s.Start - ranks[0].Iterations[i].Start; apart > 1e9 || apart < -1e9 {
				t.Errorf("rank %d begins iteration %d %d ns after rank 0", rank, i, apart)
			}
		}
	}
	if m, err := metricsOf(o, ranks); err != nil || m["bytes"] != float64(o.Matrix.Total()) {
		t.Errorf("%v, %v", m, err)
	}
}

// Of more iterations than are kept, the first and the last are.
func TestManyIterations(t *testing.T) {
	phase.Long(t)
	o := trafficOf(matrixOf(t, 2, matrix.Cell{From: 0, To: 1, Bytes: 8}),
		func(o *move.Spec) { o.Verify, o.Iterations = "sample", 5000 })
	r := runCases(t, "shm", 2, o)[0][0]
	checkSpans(t, 0, 4096, r.Iterations)
	gap := func(i int) int64 { return r.Iterations[i+1].Start - r.Iterations[i].Start }
	gaps := make([]int64, 2047)
	for i := range gaps {
		gaps[i] = gap(i)
	}
	slices.Sort(gaps)
	usual := gaps[len(gaps)/2] // some are long, if other programs run
	if left := gap(2047); left < 300*usual || r.Samples.Ops != 5000 {
		t.Errorf("%d iterations; between the first and the last that are kept lie %d ns, and one takes %d",
			r.Samples.Ops, left, usual)
	}
}

// nixlCells runs in a process of its own, see nixlChildren.
func nixlCells(t *testing.T) error {
	m := matrices(t)["uneven"]
	_, err := tryCases(t, "nixl", m.Ranks(), trafficOf(m, sharded(3)))
	return err
}

// Over NIXL a cell is one request with a descriptor for each of its shards, prepared once and posted in every
// iteration.
func TestTrafficOverNixl(t *testing.T) {
	phase.Long(t)
	trace := filepath.Join(t.TempDir(), "trace")
	out := nixlChild(t, "cells", "WEIR_NIXL_LIBRARY="+fakeNixl(t), "FAKE_NIXL_TRACE="+trace)
	b, err := os.ReadFile(trace)
	if err != nil || !strings.Contains(out, "FINE") {
		t.Fatal(err, out)
	}
	cells := 0
	for c := range matrices(t)["uneven"].Cells() {
		if c.Bytes >= 3 {
			cells++
		}
	}
	if n := strings.Count(string(b), "write 3 x "); n != cells {
		t.Errorf("%d requests of 3 descriptors were prepared for %d cells:\n%s", n, cells, b)
	}
}
