package native

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/sequence"
)

// sequenceOf returns patterns of five ranks: the second shares ranks with the first, the third with none of
// the others, and rank 4 is in none before the last.
func sequenceOf(t testing.TB) []*matrix.Matrix {
	return []*matrix.Matrix{
		matrixOf(t, 5, matrix.Cell{From: 0, To: 1, Bytes: 70001}, matrix.Cell{From: 1, To: 0, Bytes: 3}),
		matrixOf(t, 5, matrix.Cell{From: 1, To: 0, Bytes: 2 << 20}),
		matrixOf(t, 5, matrix.Cell{From: 2, To: 3, Bytes: 1 << 20}, matrix.Cell{From: 2, To: 2, Bytes: 300_001},
			matrix.Cell{From: 3, To: 3, Bytes: 5}),
		matrixOf(t, 5, matrix.Cell{From: 0, To: 4, Bytes: 129}, matrix.Cell{From: 2, To: 4, Bytes: 4096}),
	}
}

// patternCases returns the cases of a launch that plays these matrices.
func patternCases(patterns []*matrix.Matrix, change ...func(*move.Spec)) []move.Spec {
	var cases []move.Spec
	var steps []*move.Spec
	for i, m := range patterns {
		o := trafficOf(m, append([]func(*move.Spec){func(o *move.Spec) {
			o.Step = &move.Step{Pattern: int64(i), Iterations: 3, Warmup: 1, Overlap: true}
			o.Iterations, o.Warmup = 4, 1
		}}, change...)...)
		cases = append(cases, o)
		steps = append(steps, &o)
	}
	sequence.Schedule(steps)
	return cases
}

func checkSequence(t *testing.T, cases []move.Spec, all [][]*move.Part) {
	t.Helper()
	for k, ranks := range all {
		o := cases[k]
		checkTraffic(t, o, ranks) // alone
		members := o.Members()
		for rank, r := range ranks {
			if len(r.Steps) != int(o.Step.Iterations) || len(r.Began) != len(r.Steps) {
				t.Fatalf("pattern %d, rank %d: %d iterations that began %d times", k, rank, len(r.Steps), len(r.Began))
			}
			for i, s := range r.Steps {
				in, moves := slices.Contains(members, rank), len(o.Targets(rank)) > 0 || o.OwnBytes(rank) > 0
				if (s.Agreed > 0) != in || (s.Start > 0) != moves || (s.End > 0) != moves {
					t.Errorf("pattern %d, rank %d, iteration %d: member %v, moves %v: %+v", k, rank, i, in, moves, s)
				}
				if in && s.Agreed != ranks[members[0]].Steps[i].Agreed || moves &&
					(s.Start < s.Agreed || s.End < s.Start) || in && s.Agreed < r.Began[i]+int64(o.Step.Before) {
					t.Errorf("pattern %d, rank %d, iteration %d, which began at %d: %+v, and the first member has %+v",
						k, rank, i, r.Began[i], s, ranks[members[0]].Steps[i])
				}
			}
		}
		m, err := metricsOf(o, ranks)
		if err != nil {
			t.Fatal(err)
		}
		if m["latency"] <= 0 || m["slowdown"] != m["latency"]/m["isolated_latency"] || m["drift.max"] < m["drift"] ||
			m["bytes"] != float64(o.Matrix.Total()) {
			t.Errorf("pattern %d: %v", k, m)
		}
		inOrder(t, cases, all, k)
	}
}

// inOrder checks that no pattern starts before the earlier ones that share a rank with it have ended and
// slept everywhere.
func inOrder(t *testing.T, cases []move.Spec, all [][]*move.Part, k int) {
	t.Helper()
	members := cases[k].Members()
	for before := range k {
		if !slices.ContainsFunc(cases[before].Members(), func(m int) bool { return slices.Contains(members, m) }) {
			continue
		}
		for i := range int(cases[k].Step.Iterations) {
			start, end := all[k][members[0]].Steps[i].Agreed, int64(0)
			for _, r := range all[before] {
				end = max(end, r.Steps[i].End)
			}
			if start < end+int64(cases[before].Step.After)+int64(cases[k].Step.Before) {
				t.Errorf("iteration %d: pattern %d starts at %d, and pattern %d ends at %d", i, k, start, before, end)
			}
		}
	}
}

// A sequence with ranks in several patterns is played in order, every cell of it arrives at its place, and
// each pattern is also measured alone.
func TestTrafficSequence(t *testing.T) {
	phase.Long(t)
	eachPath(t, func(t *testing.T, w testPath) {
		if w.slow() || !w.puts() {
			t.Skip("each request takes milliseconds, or is a tagged message")
		}
		sleepy := func(o *move.Spec) { o.Step.Before, o.Step.After = quantity.Time(4e6), quantity.Time(1e6) }
		launches := [][]move.Spec{patternCases(sequenceOf(t), w.change, sharded(3), sleepy)}
		if w.reads() {
			mixed := patternCases(sequenceOf(t), w.change)
			for k := range mixed {
				if k%2 == 0 {
					mixed[k].Op = "read"
				}
			}
			launches = append(launches, mixed)
		}
		if phase.Whole() {
			launches = append(launches, patternCases(sequenceOf(t), w.change,
				func(o *move.Spec) { o.Step.Overlap, o.Verify = false, "sample" }))
		}
		for _, cases := range launches {
			checkSequence(t, cases, runCases(t, w.fabric, 5, cases...))
		}
	})
}

// Patterns that have no rank in common do not wait for each other, unless requested.
func TestTrafficSequenceOverlaps(t *testing.T) {
	phase.Long(t)
	for _, overlap := range []bool{true, false} {
		cases := patternCases(sequenceOf(t), func(o *move.Spec) {
			o.Step.Overlap = overlap
			if o.Step.Pattern == 0 {
				o.Step.Before = quantity.Time(300e6) // far longer than anything else takes
			}
		})
		all := runCases(t, "shm", 5, cases...)
		for i := range 3 {
			sleeping, other := all[0][0].Steps[i].Agreed, all[2][2].Steps[i].Agreed
			if other < sleeping != overlap {
				t.Errorf("overlap %v: in iteration %d the pattern that sleeps starts at %d, and one of other ranks at %d",
					overlap, i, sleeping, other)
			}
		}
	}
}

// Any patterns between any ranks end, in order and complete.
func TestTrafficSequenceOfAnyPatterns(t *testing.T) {
	phase.Long(t)
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 6).Draw(rt, "ranks")
		var patterns []*matrix.Matrix
		for range rapid.IntRange(1, 6).Draw(rt, "patterns") {
			from := rapid.IntRange(0, ranks-1).Draw(rt, "from")
			cells := map[[2]int]int64{{from, (from + 1) % ranks}: 77}
			for range rapid.IntRange(0, 4).Draw(rt, "more") {
				if a, b := rapid.IntRange(0, ranks-1).Draw(rt, "a"), rapid.IntRange(0, ranks-1).Draw(rt, "b"); a != b {
					cells[[2]int{a, b}] = rapid.Int64Range(1, 9000).Draw(rt, "bytes")
				}
			}
			var list []matrix.Cell
			for c, bytes := range cells {
				list = append(list, matrix.Cell{From: c[0], To: c[1], Bytes: bytes})
			}
			slices.SortFunc(list, func(a, b matrix.Cell) int { return (a.From-b.From)*ranks + a.To - b.To })
			patterns = append(patterns, matrixOf(t, ranks, list...))
		}
		overlap := rapid.Bool().Draw(rt, "overlap")
		cases := patternCases(patterns, func(o *move.Spec) {
			o.Step.Overlap = overlap
			o.Op = rapid.SampledFrom([]string{"write", "read"}).Draw(rt, "op")
		})
		checkSequence(t, cases, runCases(t, "shm", ranks, cases...))
	})
}

// Ranks on other hosts report their times by the first host's clock.
func TestTrafficSequenceBetweenHosts(t *testing.T) {
	cases := patternCases(sequenceOf(t)[:1])
	ranks := onNodes(t, "tcp", []string{"a", "b", "a", "b", "c"}, cases[0])
	if apart := ranks[0].Steps[2].Agreed - ranks[1].Steps[2].Agreed; apart > 1e9 || apart < -1e9 {
		t.Errorf("what rank 1 agreed to with rank 0 is %d ns away from it", apart)
	}
}
