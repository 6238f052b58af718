package native

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/matrix"
	"weir/quantity"
	"weir/test/phase"
	"weir/workload/move"
	"weir/workload/sequence"
)

// sequenceOf are patterns of five ranks: the second shares ranks with the first, the
// third with none of the others, and rank 4 is in none before the last.
func sequenceOf(t testing.TB) []*matrix.Matrix {
	return []*matrix.Matrix{
		matrixOf(t, 5, matrix.Cell{From: 0, To: 1, Bytes: 70001}, matrix.Cell{From: 1, To: 0, Bytes: 3}),
		matrixOf(t, 5, matrix.Cell{From: 1, To: 0, Bytes: 2 << 20}),
		matrixOf(t, 5, matrix.Cell{From: 2, To: 3, Bytes: 1 << 20}, matrix.Cell{From: 2, To: 2, Bytes: 300_001},
			matrix.Cell{From: 3, To: 3, Bytes: 5}),
		matrixOf(t, 5, matrix.Cell{From: 0, To: 4, Bytes: 129}, matrix.Cell{From: 2, To: 4, Bytes: 4096}),
	}
}

// sequence are the cases of a launch that plays these matrices.
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

// inOrder says that no pattern starts before those before it, with which it shares a
// rank, have ended and slept everywhere.
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

// A sequence is played in order where ranks are in several patterns, every cell of it
// arrives where it belongs, and each pattern is measured alone besides.
func TestTrafficSequence(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	for _, fabric := range []string{"shm", "tcp", "ucx", "ucx/am", "libfabric"} {
		t.Run(fabric, func(t *testing.T) {
			library, api, _ := strings.Cut(fabric, "/")
			needs(t, library)
			over := having()
			if api != "" {
				over = having("api", api)
			}
			ops := []func(*move.Spec){over, sharded(3)}
			sleepy := func(o *move.Spec) {
				o.Step.Before, o.Step.After = quantity.Time(4e6), quantity.Time(1e6)
			}
			for _, cases := range [][]move.Spec{
				patternCases(sequenceOf(t), ops...), patternCases(sequenceOf(t), over, sleepy),
				patternCases(sequenceOf(t), over, func(o *move.Spec) { o.Step.Overlap, o.Verify = false, "sample" }),
			} {
				checkSequence(t, cases, runCases(t, library, 5, cases...))
			}
			if api == "" {
				mixed := patternCases(sequenceOf(t), over)
				for k := range mixed {
					if k%2 == 0 {
						mixed[k].Op = "read"
					}
				}
				checkSequence(t, mixed, runCases(t, library, 5, mixed...))
			}
		})
	}
}

// Patterns that have no rank in common do not wait for each other, unless they are told to.
func TestTrafficSequenceOverlaps(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
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

// Any patterns between any ranks end, in order and whole.
func TestTrafficSequenceOfAnyPatterns(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
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

// A wrong byte is found, with its pattern, whether it came alone or in the sequence.
func TestWrongByteOfASequence(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	// rank 0 receives 3 bytes, then 2 MiB, both of rank 1; rank 4 in the last pattern only
	for corrupt, want := range map[string]string{
		"0:2":             "wrong data from rank 1 to rank 0 after an untimed pass: byte 2 of 3 of their cell",
		"0:3:timed":       "wrong data from rank 1 to rank 0 after the timed part: byte 0 of 2097152 of their cell",
		"4:4224:timed":    "byte 4095 of 4096",
		"3:1048580:timed": "wrong data from rank 3 to rank 3 after the timed part: byte 4 of 5 of its own cell",
		"2:300000":        "wrong data from rank 2 to rank 2 after an untimed pass: byte 300000 of 300001 of its own cell",
		"0:2097155:timed": "receives 2097155 bytes in the sequence",
	} {
		t.Setenv(CorruptEnv, corrupt)
		cases := patternCases(sequenceOf(t))
		_, err := tryCases(t, "shm", 5, cases...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", corrupt, err, want)
		}
		if err != nil && strings.Contains(want, "byte ") && !strings.Contains(err.Error(), ", in pattern ") {
			t.Errorf("%s: the pattern is not named: %v", corrupt, err)
		}
	}
	t.Setenv(CorruptEnv, "0:0")
	if _, err := tryCases(t, "shm", 5, patternCases(sequenceOf(t),
		func(o *move.Spec) { o.Verify = "none" })...); err == nil ||
		!strings.Contains(err.Error(), "verifies nothing") {
		t.Errorf("a byte that nobody looks at: %v", err)
	}
}

// Ranks on other hosts give their times on the clock of the first one's.
func TestTrafficSequenceBetweenHosts(t *testing.T) {
	cases := patternCases(sequenceOf(t)[:1])
	ranks := onNodes(t, "tcp", []string{"a", "b", "a", "b", "c"}, cases[0])
	if apart := ranks[0].Steps[2].Agreed - ranks[1].Steps[2].Agreed; apart > 1e9 || apart < -1e9 {
		t.Errorf("what rank 1 agreed to with rank 0 is %d ns away from it", apart)
	}
}
