package native

import (
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

// Requests that complete when posted do not suppress polling: among large ones the loop polls, advances the
// heartbeat and checks its deadline.
func TestLargeRequestsLeaveTurns(t *testing.T) {
	phase.Long(t)
	const n = 255 // 8 GiB; among small requests the loop polls after 256
	l, ranks := openConnected(t, "shm", []string{"here", "here"},
		options(32<<20, func(o *move.Spec) { o.Iterations, o.Warmup, o.Verify = n, 0, "none" }))
	errs := make(chan error, len(ranks))
	for _, r := range ranks {
		go func() {
			_, err := r.measure(l.Cases[0].Key)
			errs <- err
		}()
	}
	control, between := ranks[0].control, false
	for ended := 0; ended < len(ranks); {
		select {
		case err := <-errs:
			if err != nil {
				t.Fatal(err)
			}
			ended++
		case <-time.After(time.Millisecond):
			done := control.Done.Load()
			between = between || control.Phase.Load() == engine.PhaseRun && 0 < done && done < n
		}
	}
	if !between {
		t.Error("no progress was reported between its first request and its last")
	}
}

// The warm-up of a ping-pong ends before its timed part begins: however long it takes, a duration covers the
// timed part only.
func TestWarmUpOfAPingPongIsNotTimed(t *testing.T) {
	phase.Long(t)
	for fabric, warmup := range map[string]int64{"shm": 200000, "tcp": 3000, "ucx": 50000, "libfabric": 3000} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			const wanted = 30 * time.Millisecond
			o := options(8, pingpong, func(o *move.Spec) {
				o.Duration, o.Warmup = quantity.Time(wanted), warmup
			})
			s := runCases(t, fabric, 2, o)[0][0].Samples
			if s.Ops < 2 {
				t.Errorf("%d messages in %v", s.Ops, time.Duration(s.End-s.Start))
			}
		})
	}
}

// Requests that wait for the peer fill the window before the first poll moves any of them, however large they
// are. By Little's law, rate times latency is the mean number of requests in flight. A host with other work
// can take time from the posting rank, so one of several launches must show a full window; a loop that does
// not fill it never does.
func TestLargeRequestsFillTheWindow(t *testing.T) {
	const window, launches = 16, 8
	o := options(8<<20, func(o *move.Spec) {
		o.Iterations, o.Warmup, o.InFlight, o.Verify = 96, 4, window, "none"
	})
	var underWay []float64
	for range launches {
		m, err := transfer.Metrics(o, runCases(t, "tcp", 2, o)[0])
		if err != nil {
			t.Fatal(err)
		}
		n := m["message_rate"] * m["latency.avg"]
		if n > 1.1*window {
			t.Fatalf("%.1f requests were under way on average, of a window of %d", n, window)
		}
		if n > 0.7*window {
			return
		}
		underWay = append(underWay, n)
	}
	t.Errorf("%.1f requests were under way on average in each of %d launches, of a window of %d",
		underWay, launches, window)
}
