package native

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

func threaded(n int64) func(*move.Spec) {
	return func(o *move.Spec) { o.Threads = n }
}

// Every thread of every rank moves what a single one would, each byte of it is checked, and the rank's result
// covers all of them.
func TestThreads(t *testing.T) {
	phase.Long(t)
	eachPath(t, func(t *testing.T, w testPath) {
		for pattern, shape := range map[string]struct{ ranks, threads int }{"pairwise": {2, 3}, "all_to_all": {3, 2}} {
			if w.slow() && shape.ranks > 2 {
				continue
			}
			with := func(o *move.Spec) {
				o.Pattern, o.Ranks, o.Threads, o.Iterations, o.InFlight, o.Warmup = pattern, int64(shape.ranks),
					int64(shape.threads), 50, 4, 5
				if w.slow() {
					o.Iterations, o.Warmup = 6, 1
				}
			}
			cases := []move.Spec{
				options(100, with, batch4), options(64<<10, with, func(o *move.Spec) { o.Duration = 50e6 }),
			}
			if w.reads() {
				cases = append(cases, options(70000, with, read))
			}
			if pattern == "pairwise" {
				cases = append(cases, options(5000, with, pingpong))
			}
			for k, measured := range runCases(t, w.fabric, shape.ranks, w.applyAll(cases)...) {
				checkThreads(t, cases[k], measured, func(rank int) bool {
					return initiates[pattern](rank, shape.ranks)
				})
			}
		}
	})
}

func checkThreads(t *testing.T, o move.Spec, ranks []*move.Part, initiates func(int) bool) {
	t.Helper()
	for rank, r := range ranks {
		if !r.Verified || r.Initiator != initiates(rank) || (r.Samples != nil) != r.Initiator {
			t.Errorf("rank %d: verified %v, initiator %v, has samples %v", rank, r.Verified, r.Initiator,
				r.Samples != nil)
		}
		if !r.Initiator {
			continue
		}
		s, each := r.Samples, requestBytes(o)
		if o.Mode == "pingpong" {
			each *= 2
		}
		if want := uint64(o.Threads * o.Iterations); o.Duration == 0 && s.Ops != want || s.Bytes != s.Ops*each ||
			s.Ops < uint64(o.Threads) {
			t.Errorf("rank %d moved %d bytes in %d requests", rank, s.Bytes, s.Ops)
		}
		if r.Threads == nil || r.Threads.From < s.Start || r.Threads.To > s.End ||
			!strings.Contains(r.Transport, fmt.Sprintf("each of %d threads", o.Threads)) {
			t.Errorf("rank %d: threads %+v of samples from %d to %d, transport %q", rank, r.Threads, s.Start, s.End,
				r.Transport)
		}
		if last := s.Progress[len(s.Progress)-1]; last.Bytes != s.Bytes ||
			!slices.IsSortedFunc(s.Progress, func(a, b results.Progress) int { return int(a.Bytes) - int(b.Bytes) }) {
			t.Errorf("rank %d: progress ends with %d of %d bytes, or goes back", rank, last.Bytes, s.Bytes)
		}
	}
}

// A rank stops with all its threads when its agent requests it.
func TestAbortOfThreads(t *testing.T) {
	o := options(1<<20, threaded(3), func(o *move.Spec) { o.Iterations, o.Verify = 1<<30, "none" })
	l, ranks := openConnected(t, "tcp", []string{"a", "a"}, o)
	errs := make(chan error, 2)
	for _, r := range ranks {
		go func() { _, err := r.measure(l.Cases[0].Key); errs <- err }()
	}
	for _, r := range ranks {
		for r.control.Phase.Load() != engine.PhaseRun {
			select {
			case err := <-errs:
				t.Fatalf("before it is told to stop: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
	}
	for _, r := range ranks {
		r.control.Abort.Store(1)
	}
	for range ranks {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "told to stop") {
			t.Errorf("got %v", err)
		}
	}
}

// Ranks with different numbers of threads do not connect: each thread needs a counterpart.
func TestAddressesOfOtherThreads(t *testing.T) {
	r := &rank{member: member{fabric: "tcp", width: 2}, launch: launch{Launch: engine.Launch{Ranks: 2}}}
	r.threads = append(r.threads, nil, nil)
	for name, address := range map[string][]byte{
		"one": {1, 0, 0, 0, 9}, "cut short": {1, 0, 0, 0, 9, 2, 0, 0, 0, 9}, "none": nil,
		"three": {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		if _, err := r.split(1, address); err == nil || !strings.Contains(err.Error(), "not one of 2 threads") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if list, err := r.split(1, []byte{1, 0, 0, 0, 9, 0, 0, 0, 0}); err != nil || len(list) != 2 || len(list[0]) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
}
