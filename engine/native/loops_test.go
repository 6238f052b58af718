package native

import (
	"strings"
	"testing"
	"time"

	"weir/quantity"
	"weir/workload"
)

// A request that is complete when it is posted is no reason to look at nothing else:
// of large ones the loop sees the deadline, and shows life, after some of them.
func TestLargeRequestsSeeTheDeadline(t *testing.T) {
	const n = 255 // 8 GiB, of small requests one turn is taken after 256
	large := options(32<<20, func(o *workload.TransferOptions) { o.Iterations, o.Warmup, o.Verify = n, 0, "none" })
	l, ranks := opened(t, "shm", []string{"here", "here"}, large)
	l.Cases[0].Timeout = 400e6
	errs := make(chan error, len(ranks))
	for _, r := range ranks {
		go func() {
			_, err := r.Run(l.Cases[0])
			errs <- err
		}()
	}
	for range ranks {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "0.4 s") {
			t.Errorf("got %v, want the deadline of 0.4 s", err)
		}
	}
	if done := ranks[0].(*rank).control.Done.Load(); done >= n {
		t.Errorf("the deadline was seen after all %d requests of 32 MiB", done)
	}
}

// The warm-up of a ping-pong is over before its timed part begins: however long it
// takes, a duration is the timed part's own.
func TestWarmUpOfAPingPongIsNotTimed(t *testing.T) {
	for fabric, warmup := range map[string]int64{"shm": 200000, "tcp": 3000, "ucx": 50000, "libfabric": 3000} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			const wanted = 30 * time.Millisecond
			o := options(8, pingpong, func(o *workload.TransferOptions) {
				o.Duration, o.Warmup = quantity.Time(wanted), warmup
			})
			s := transfer(t, fabric, 2, o)[0][0].Samples
			if s.Ops < 2 {
				t.Errorf("%d messages in %v", s.Ops, time.Duration(s.End-s.Start))
			}
		})
	}
}
