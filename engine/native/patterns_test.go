package native

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

func withPattern(pattern string, ranks int) func(*move.Spec) {
	return func(o *move.Spec) {
		o.Pattern, o.Ranks = pattern, int64(ranks)
		o.Verify, o.Iterations, o.Warmup, o.InFlight = "full", 9, 5, 4
	}
}

func bidirectional(o *move.Spec) { o.Bidirectional = true }

// initiates returns whether a rank initiates, by the definition of the patterns and not by the code that the
// engine uses.
var initiates = map[string]func(rank, ranks int) bool{
	"pairwise":    func(rank, ranks int) bool { return rank < ranks/2 },
	"one_to_many": func(rank, _ int) bool { return rank == 0 },
	"many_to_one": func(rank, _ int) bool { return rank > 0 },
	"ring":        func(int, int) bool { return true },
	"all_to_all":  func(int, int) bool { return true },
}

func needs(t *testing.T, fabric string) {
	t.Helper()
	if f := (native{}).Probe([]string{fabric})[fabric]; !f.Available {
		t.Skipf("no %s here: %s", fabric, f.Reason)
	}
}

// Under every pattern, with several numbers of ranks, each byte of each pair arrives at its place in every
// iteration, and initiators report the bytes that they move.
func TestPatterns(t *testing.T) {
	phase.Long(t)
	eachPath(t, func(t *testing.T, w testPath) {
		for pattern, initiates := range initiates {
			for _, ranks := range numbersOfRanks(w, pattern) {
				t.Run(fmt.Sprintf("%s/%d", pattern, ranks), func(t *testing.T) {
					cases := []move.Spec{
						options(100, withPattern(pattern, ranks), batch4), options(70000, withPattern(pattern, ranks)),
					}
					if w.reads() {
						cases = append(cases, options(70000, withPattern(pattern, ranks), read))
					}
					for k, results := range runCases(t, w.fabric, ranks, w.applyAll(cases)...) {
						checkMoved(t, cases[k], results, func(rank int) bool { return initiates(rank, ranks) })
					}
				})
			}
		}
		both := []move.Spec{options(5000, withPattern("pairwise", 2), bidirectional)}
		if w.reads() {
			both = append(both, options(70000, withPattern("pairwise", 2), bidirectional, read))
		}
		for k, results := range runCases(t, w.fabric, 2, w.applyAll(both)...) {
			checkMoved(t, both[k], results, func(int) bool { return true })
		}
	})
}

// numbersOfRanks returns those tested under a pattern, where several that spin share processors.
func numbersOfRanks(w testPath, pattern string) []int {
	switch {
	case w.slow() && pattern == "ring":
		return []int{2}
	case w.slow():
		return nil
	case phase.Whole() && w.fabric == "shm" && pattern != "pairwise":
		return []int{2, 3, 4, 8}
	case pattern == "pairwise":
		return []int{4}
	}
	return []int{3}
}

func checkMoved(t *testing.T, o move.Spec, ranks []*move.Part, initiates func(int) bool) {
	t.Helper()
	for rank, r := range ranks {
		if !r.Verified || r.Initiator != initiates(rank) || (r.Samples != nil) != r.Initiator {
			t.Errorf("rank %d: verified %v, initiator %v, has samples %v", rank, r.Verified, r.Initiator,
				r.Samples != nil)
		}
		if !r.Initiator {
			continue
		}
		if want := uint64(o.Iterations) * requestBytes(o); r.Samples.Bytes != want ||
			r.Samples.Ops != uint64(o.Iterations) {
			t.Errorf("rank %d moved %d bytes in %d requests, want %d in %d", rank, r.Samples.Bytes, r.Samples.Ops, want,
				o.Iterations)
		}
		// copying a few bytes may take no longer than reading the clock, which is subtracted
		if r.Ceiling <= 0 || r.Memcpy <= 0 || r.Stages.Post.Stamps == 0 || r.Stages.Post.P99 < 0 {
			t.Errorf("rank %d: ceiling %v, memcpy %v, posting %+v", rank, r.Ceiling, r.Memcpy, r.Stages.Post)
		}
		// the best rate of the path is not divided among the ranks that share it
		if r.CeilingBest*o.Share(rank) < r.Ceiling*(1-1e-9) {
			t.Errorf("rank %d: the best span %v, the median's share of %v %v", rank, r.CeilingBest, o.Share(rank),
				r.Ceiling)
		}
	}
}

// Whatever the shape of a case, the counted bytes are those that the pattern moves: the requests of all
// initiators, each with all its blocks.
func TestBytesCountedAreThoseThatThePatternMoves(t *testing.T) {
	phase.Long(t)
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.SampledFrom([]string{"pairwise", "one_to_many", "many_to_one", "ring", "all_to_all"}).Draw(rt,
			"pattern")
		ranks := rapid.IntRange(2, 5).Filter(func(n int) bool { return pattern != "pairwise" || n%2 == 0 }).Draw(rt,
			"ranks")
		o := options(quantity.Size(rapid.IntRange(1, 9000).Draw(rt, "block")), func(o *move.Spec) {
			o.Pattern, o.Ranks = pattern, int64(ranks)
			o.Bidirectional = pattern == "pairwise" && rapid.Bool().Draw(rt, "bidirectional")
			o.Op = rapid.SampledFrom([]string{"write", "read"}).Draw(rt, "op")
			o.Payload = rapid.SampledFrom([]string{"random", "zero"}).Draw(rt, "payload")
			o.Batch = rapid.Int64Range(1, 5).Draw(rt, "batch")
			o.Iterations = rapid.Int64Range(int64(ranks), 60).Draw(rt, "iterations")
			o.Warmup = rapid.Int64Range(0, 5).Draw(rt, "warmup")
			o.InFlight = rapid.Int64Range(1, 20).Draw(rt, "in flight")
		})
		initiators := map[string]int{"pairwise": ranks / 2, "one_to_many": 1, "many_to_one": ranks - 1, "ring": ranks,
			"all_to_all": ranks}[pattern]
		if o.Bidirectional {
			initiators = ranks
		}
		moved := uint64(0)
		for _, r := range runCases(t, "shm", ranks, o)[0] {
			if r.Initiator {
				moved += r.Samples.Bytes
			}
		}
		if want := uint64(initiators) * uint64(o.Iterations) * uint64(o.Batch) * uint64(o.BlockSize); moved != want {
			rt.Fatalf("%d bytes, want %d", moved, want)
		}
	})
}

func zeroed(o *move.Spec) { o.Payload = "zero" }
func spread(o *move.Spec) { o.Reuse = "spread" }

// Requests that cycle over many places, blocks of zeros, and a timed part that ends by the clock.
func TestReuseAndPayload(t *testing.T) {
	phase.Long(t)
	defer func(f func() uint64) { lastLevelCache = f }(lastLevelCache)
	lastLevelCache = func() uint64 { return 100000 }
	short := func(o *move.Spec) { o.Duration = 5e6 }
	eachPath(t, func(t *testing.T, w testPath) {
		if w.slow() {
			t.Skip("each request takes milliseconds")
		}
		for _, pattern := range []string{"pairwise", "all_to_all"} {
			cases := []move.Spec{
				options(4097, withPattern(pattern, 2), spread),
				options(300000, withPattern(pattern, 2), spread, batch4),
				options(7, withPattern(pattern, 2), zeroed), options(5001, withPattern(pattern, 2), zeroed, spread),
				options(5000, withPattern(pattern, 2), spread, short),
				options(64<<10, withPattern(pattern, 2), spread, short),
			}
			for k, ranks := range runCases(t, w.fabric, 2, w.applyAll(cases)...) {
				if o := cases[k]; o.Duration == 0 {
					checkMoved(t, o, ranks, func(rank int) bool { return pattern == "all_to_all" || rank == 0 })
				} else if !ranks[0].Verified || !ranks[1].Verified || ranks[0].Samples.Ops == 0 {
					t.Errorf("case %d: verified %v and %v, %d requests", k, ranks[0].Verified, ranks[1].Verified,
						ranks[0].Samples.Ops)
				}
			}
		}
	})
}

// The places of a region cover at least twice the cache, over all targets together.
func TestSpreadCoversTheCache(t *testing.T) {
	r := &rank{cache: 2 * 384 << 20}
	for _, o := range []move.Spec{
		options(1, spread), options(4096, spread, batch4), options(1<<30, spread),
		options(5000, spread, withPattern("all_to_all", 8)),
	} {
		if covered := r.slots(o) * stride(o) * uint64(o.FanOut()); covered < r.cache {
			t.Errorf("%v x%d: %d bytes of %d", o.BlockSize, o.Batch, covered, r.cache)
		}
	}
	if lastLevelCache() < 1<<20 {
		t.Errorf("the last-level cache has %d bytes?", lastLevelCache())
	}
}

func TestRanksWithDifferentCaches(t *testing.T) {
	defer func(f func() uint64) { lastLevelCache = f }(lastLevelCache)
	calls := uint64(0)
	lastLevelCache = func() uint64 { calls++; return calls << 20 }
	_, err := tryCases(t, "shm", 2, options(4096, spread))
	if err == nil || !strings.Contains(err.Error(), "ranks with different caches cannot spread requests") {
		t.Errorf("got %v", err)
	}
}

// A rank's walk covers all its places at both ends, for its own and others' requests; receivers request the
// cells of a read matrix.
func TestWalk(t *testing.T) {
	const mib = 1 << 20
	cells, err := matrix.New(3, []matrix.Cell{{From: 0, To: 1, Bytes: 2 * mib}, {From: 1, To: 0, Bytes: mib}})
	if err != nil {
		t.Fatal(err)
	}
	trafficOf := func(op string) move.Spec {
		return move.Spec{Pattern: move.MatrixPattern, Matrix: cells, Ranks: 3, Op: op}
	}
	threads := func(o *move.Spec) { o.Threads = 3 }
	pingpong := func(o *move.Spec) { o.Mode = "pingpong" }
	for name, c := range map[string]struct {
		o                 move.Spec
		rank              int
		initiated, served uint64
	}{
		"initiator":        {options(mib, batch4), 0, 4 * mib, 0},
		"target":           {options(mib, batch4), 1, 0, 4 * mib},
		"threads":          {options(mib, threads), 0, 3 * mib, 0},
		"ping-pong":        {options(mib, pingpong), 1, mib, mib},
		"all to all":       {options(mib, withPattern("all_to_all", 4)), 2, 3 * mib, 3 * mib},
		"spread":           {options(mib, spread), 0, 64 * mib, 0},
		"spread, one byte": {options(1, spread), 1, 0, 64 * mib},
		"matrix":           {trafficOf("write"), 0, 2 * mib, mib},
		"matrix, read":     {trafficOf("read"), 0, mib, 2 * mib},
		"idle":             {trafficOf("write"), 2, 0, 0},
	} {
		r := &rank{
			cache: 64 * mib, member: member{self: engine.Identity{Rank: c.rank}},
			launch: launch{Cases: []task{{Options: c.o}}},
		}
		if got := r.walk(c.o); got == nil || got.Initiated != c.initiated || got.Served != c.served {
			t.Errorf("%s: %+v, want %d and %d", name, got, c.initiated, c.served)
		}
	}
	if got := (&rank{}).walk(move.Spec{Step: &move.Step{}}); got != nil {
		t.Errorf("of a sequence: %+v", got)
	}
}
