package native

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/engine"
	"weir/matrix"
	"weir/quantity"
	"weir/test/phase"
	"weir/workload/move"
)

func under(pattern string, ranks int) func(*move.Spec) {
	return func(o *move.Spec) {
		o.Pattern, o.Ranks = pattern, int64(ranks)
		o.Verify, o.Iterations, o.Warmup, o.InFlight = "full", 9, 5, 4
	}
}

func bidirectional(o *move.Spec) { o.Bidirectional = true }

// initiates says which ranks must initiate, from the definition of the patterns
// and not from the code that the engine asks.
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

// Under every pattern, with every number of ranks, each byte of each pair arrives
// where it belongs, in every single iteration; who initiates moves what it says.
func TestPatterns(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	for _, fabric := range []string{"shm", "tcp", "ucx"} {
		for pattern, initiates := range initiates {
			for _, ranks := range []int{2, 3, 4, 8} {
				if pattern == "pairwise" && ranks%2 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", fabric, pattern, ranks), func(t *testing.T) {
					needs(t, fabric)
					cases := []move.Spec{
						options(100, under(pattern, ranks), batch4), options(70000, under(pattern, ranks), read),
					}
					for k, results := range runCases(t, fabric, ranks, cases...) {
						checkMoved(t, cases[k], results, func(rank int) bool { return initiates(rank, ranks) })
					}
				})
			}
		}
	}
}

func TestBothDirectionsAtOnce(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	for _, fabric := range []string{"shm", "tcp", "ucx"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			cases := []move.Spec{
				options(5000, under("pairwise", 4), bidirectional),
				options(70000, under("pairwise", 4), bidirectional, read),
			}
			for k, results := range runCases(t, fabric, 4, cases...) {
				checkMoved(t, cases[k], results, func(int) bool { return true })
			}
		})
	}
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
		// copying a few bytes may take no longer than reading the clock, which is not counted
		if r.Ceiling <= 0 || r.Memcpy <= 0 || r.Stages.Post.Stamps == 0 || r.Stages.Post.P99 < 0 {
			t.Errorf("rank %d: ceiling %v, memcpy %v, posting %+v", rank, r.Ceiling, r.Memcpy, r.Stages.Post)
		}
		// the best that was seen of the path is not divided among those who share it
		if r.CeilingBest*o.Share(rank) < r.Ceiling*(1-1e-9) {
			t.Errorf("rank %d: the best span %v, the median's share of %v %v", rank, r.CeilingBest, o.Share(rank),
				r.Ceiling)
		}
	}
}

// Whatever the shape of a case is, the bytes that are counted are those that the
// pattern moves: the requests of all initiators, each of all its blocks.
func TestBytesCountedAreThoseThatThePatternMoves(t *testing.T) {
	phase.NotUnderRace(t)
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

// In each pattern a byte that one rank received wrongly is found, with its source,
// its target and its offset, whichever of the pairs it is in.
func TestWrongByteUnderEachPattern(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	for name, c := range map[string]struct {
		option  move.Spec
		corrupt string
		want    string
	}{
		"one_to_many": {options(4096, under("one_to_many", 4)), "3:17",
			"wrong data from rank 0 to rank 3 after an untimed pass: byte 17 of 4096"},
		"many_to_one": {options(4096, under("many_to_one", 4)), "0:8197",
			"wrong data from rank 3 to rank 0 after an untimed pass: byte 5 of 4096"},
		"ring": {options(4096, under("ring", 4)), "0:9:timed",
			"wrong data from rank 3 to rank 0 after the timed part: byte 9 of 4096"},
		"all_to_all": {options(4096, under("all_to_all", 4)), "2:4099:timed",
			"wrong data from rank 1 to rank 2 after the timed part: byte 3 of 4096"},
		"read of one_to_many": {options(4096, under("one_to_many", 4), read), "0:8192:timed",
			"wrong data from rank 3 to rank 0 after the timed part: byte 0 of 4096"},
		"read of all_to_all": {options(4096, under("all_to_all", 4), read), "2:1",
			"wrong data from rank 3 to rank 2 after an untimed pass: byte 1 of 4096"},
		"bidirectional": {options(4096, under("pairwise", 2), bidirectional), "0:2:timed",
			"wrong data from rank 1 to rank 0 after the timed part: byte 2 of 4096"},
		"zeros": {options(4096, under("pairwise", 2), zeroed), "1:99:timed",
			"wrong data from rank 0 to rank 1 after the timed part: byte 99 of 4096 (block 0, offset 99 in it) is 0x01, should be 0x00"},
		"head of zeros": {options(4096, under("pairwise", 2), zeroed, batch4), "1:4097",
			"byte 4097 of 16384 (block 1, offset 1 in it)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(CorruptEnv, c.corrupt)
			if _, err := tryCases(t, "shm", int(c.option.Ranks), c.option); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}

func zeroed(o *move.Spec) { o.Payload = "zero" }
func spread(o *move.Spec) { o.Reuse = "spread" }

func TestReuseAndPayload(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	defer func(f func() uint64) { lastLevelCache = f }(lastLevelCache)
	lastLevelCache = func() uint64 { return 100000 }
	for _, fabric := range []string{"shm", "tcp", "ucx"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			for _, pattern := range []string{"pairwise", "all_to_all"} {
				cases := []move.Spec{
					options(4097, under(pattern, 4), spread), options(1000, under(pattern, 4), spread, read, batch4),
					options(300000, under(pattern, 4), spread),
					options(7, under(pattern, 4), zeroed), options(5001, under(pattern, 4), zeroed, read, batch4),
					options(4097, under(pattern, 4), zeroed, spread),
				}
				for k, ranks := range runCases(t, fabric, 4, cases...) {
					checkMoved(t, cases[k], ranks, func(rank int) bool { return pattern == "all_to_all" || rank < 2 })
				}
			}
		})
	}
	t.Run("places", func(t *testing.T) {
		t.Setenv(CorruptEnv, "1:5")
		_, err := tryCases(t, "shm", 2, options(4096, under("pairwise", 2), spread))
		if err == nil || !strings.Contains(err.Error(), "after an untimed pass at place 0: byte 5") {
			t.Errorf("got %v", err)
		}
	})
}

// The places of a region cover at least twice the cache, over all targets together.
func TestSpreadCoversTheCache(t *testing.T) {
	phase.NotUnderRace(t)
	r := &rank{cache: 2 * 384 << 20}
	for _, o := range []move.Spec{
		options(1, spread), options(4096, spread, batch4), options(1<<30, spread),
		options(5000, spread, under("all_to_all", 8)),
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
	phase.NotUnderRace(t)
	defer func(f func() uint64) { lastLevelCache = f }(lastLevelCache)
	calls := uint64(0)
	lastLevelCache = func() uint64 { calls++; return calls << 20 }
	_, err := tryCases(t, "shm", 2, options(4096, spread))
	if err == nil || !strings.Contains(err.Error(), "ranks with different caches cannot spread requests") {
		t.Errorf("got %v", err)
	}
}

// What a rank walks over are all its places at both ends, for requests and for those of
// others; of a read matrix those who receive make the requests.
func TestWalk(t *testing.T) {
	phase.NotUnderRace(t)
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
		"all to all":       {options(mib, under("all_to_all", 4)), 2, 3 * mib, 3 * mib},
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
