package native

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/engine"
	"weir/results"
	"weir/test/phase"
	"weir/workload/move"
)

func threaded(n int64) func(*move.Spec) {
	return func(o *move.Spec) { o.Threads = n }
}

// Every thread of every rank moves what one alone would, each byte of it is checked,
// and the rank's result is that of all of them.
func TestThreads(t *testing.T) {
	phase.Long(t)
	for _, fabric := range []string{"shm", "tcp", "ucx"} {
		for pattern, shape := range map[string]struct{ ranks, threads int }{"pairwise": {2, 3}, "all_to_all": {3, 2}} {
			t.Run(fabric+"/"+pattern, func(t *testing.T) {
				needs(t, fabric)
				with := func(o *move.Spec) {
					o.Pattern, o.Ranks, o.Threads, o.Iterations, o.InFlight, o.Warmup = pattern, int64(shape.ranks),
						int64(shape.threads), 50, 4, 5
				}
				cases := []move.Spec{
					options(100, with, batch4), options(70000, with, read),
					options(64<<10, with, func(o *move.Spec) { o.Duration = 50e6 }),
				}
				if pattern == "pairwise" {
					cases = append(cases, options(5000, with, pingpong))
				}
				for k, measured := range runCases(t, fabric, shape.ranks, cases...) {
					checkThreads(t, cases[k], measured, func(rank int) bool {
						return initiates[pattern](rank, shape.ranks)
					})
				}
			})
		}
	}
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

// A byte that arrived wrongly at one thread is found by it, which says who it is.
func TestWrongByteOfAThread(t *testing.T) {
	phase.NotUnderRace(t)
	for name, c := range map[string]struct{ corrupt, want string }{
		"first thread": {"1:17", "thread 0: wrong data from rank 0 to rank 1 after an untimed pass: byte 17 of 4096"},
		"third thread": {"1:8203", "thread 2: wrong data from rank 0 to rank 1 after an untimed pass: byte 11 of 4096"},
		"timed":        {"1:4097:timed", "thread 1: wrong data from rank 0 to rank 1 after the timed part: byte 1 of 4096"},
		"beyond them":  {"1:12288", "of one of 2 ranks and 12288 bytes that it receives"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(CorruptEnv, c.corrupt)
			if _, err := tryCases(t, "shm", 2, options(4096, threaded(3))); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A rank whose agent tells it to stop stops with all its threads.
func TestAbortOfThreads(t *testing.T) {
	o := options(1<<20, threaded(3), func(o *move.Spec) { o.Iterations, o.Verify = 1<<30, "none" })
	l, ranks := opened(t, "tcp", []string{"a", "a"}, o)
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

// Ranks with different numbers of threads do not connect: each thread needs its like.
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
