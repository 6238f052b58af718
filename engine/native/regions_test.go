package native

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload/move"
)

// Links are probed one after the other only if they share a rank, and without deadlock: each round probes the
// links with both ends ready.
func TestProbeOrder(t *testing.T) {
	for pattern := range initiates {
		for ranks := 2; ranks <= 9; ranks++ {
			if pattern == "pairwise" && ranks%2 != 0 {
				continue
			}
			for _, both := range []bool{false, pattern == "pairwise"} {
				o := move.Spec{Pattern: pattern, Ranks: int64(ranks), Bidirectional: both}
				around := 2 + ranks%2 // an odd number does not go into pairs
				want := map[string]int{"pairwise": 1, "one_to_many": 1, "many_to_one": ranks - 1, "ring": around,
					"all_to_all": around}[pattern]
				if both {
					want = 2
				}
				if got := rounds(t, ranks, func(r int) []linkProbe { return probeOrder(o, r) }); got != want {
					t.Errorf("%s of %d, both ways %v: %d rounds, want %d", pattern, ranks, both, got, want)
				}
			}
		}
	}
}

// The links of a matrix are arbitrary: each is probed once, by both of its ends.
func TestProbeOrderOfAMatrix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 30).Draw(rt, "ranks")
		to := make([]int, ranks)
		for i := range to {
			to[i] = (i + rapid.IntRange(0, ranks-1).Draw(rt, "distance") + ranks) % ranks
			if to[i] == i {
				to[i] = -1
			}
		}
		if got := rounds(rt, ranks, func(r int) []linkProbe {
			return probesOf(ranks, r,
				func(i int) int { return to[i] })
		}); got > ranks {
			rt.Fatalf("%d rounds of %v", got, to)
		}
	})
}

func rounds(t interface {
	Helper()
	Errorf(string, ...any)
}, ranks int, probes func(rank int) []linkProbe) int {
	t.Helper()
	left := make([][]linkProbe, ranks)
	links := 0
	for r := range left {
		left[r] = probes(r)
		links += len(left[r])
	}
	n := 0
	for ; links > 0; n++ {
		var met []int // the initiators probing in this round
		for r, probes := range left {
			if len(probes) == 0 || !probes[0].initiator {
				continue
			}
			if p := probes[0].peer; len(left[p]) > 0 && left[p][0] == (linkProbe{peer: r}) {
				met = append(met, r)
			}
		}
		if len(met) == 0 {
			t.Errorf("%d ranks: they wait in a circle: %v", ranks, left)
			return 0
		}
		for _, r := range met {
			p := left[r][0].peer
			left[r], left[p] = left[r][1:], left[p][1:]
			links -= 2
		}
	}
	return n
}

// A rank that has probed its last link waits for the others: close would not wait that long. All ranks return
// in the last part of the time that the probes take.
func TestRanksEndACaseTogether(t *testing.T) {
	nodes := slices.Repeat([]string{"a"}, 6)
	o := options(4096, withPattern("many_to_one", len(nodes)),
		func(o *move.Spec) { o.Verify, o.Duration = "sample", 20e6 })
	var probes, apart time.Duration
	for range 5 { // in one of them the kernel lets all of them return at once
		l, ranks := openConnected(t, "tcp", nodes, o)
		errs, returned := make(chan error, len(ranks)), make([]time.Time, len(ranks))
		for i, r := range ranks {
			go func() {
				_, err := r.measure(l.Cases[0].Key)
				returned[i] = time.Now()
				errs <- err
			}()
		}
		ended := 0
		begin := time.Now()
		for timed := false; ended < len(ranks); {
			phase := ranks[0].control.Phase.Load()
			timed = timed || phase == engine.PhaseRun
			if !timed || phase == engine.PhaseRun {
				begin = time.Now() // the probes after the timed part have not begun
			}
			select {
			case err := <-errs:
				if err != nil {
					t.Fatal(err)
				}
				ended++
			case <-time.After(time.Millisecond):
			}
		}
		slices.SortFunc(returned, time.Time.Compare)
		probes, apart = returned[len(returned)-1].Sub(begin), returned[len(returned)-1].Sub(returned[0])
		t.Logf("the last probes took %v, the ranks came back within %v", probes, apart)
		for _, r := range ranks {
			go func() { errs <- r.Close() }()
		}
		for range ranks {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		if apart < probes/2 {
			return
		}
	}
	t.Errorf("the last probes took %v, and the ranks came back within %v", probes, apart)
}
