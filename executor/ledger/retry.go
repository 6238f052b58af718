package ledger

import (
	"slices"
	"time"

	"weir/planner"
	"weir/results"
)

// Retries says whether a case's failed launch is made again: its run asks for it
// for this kind of failure, and not as often as it allows have come already.
func (l *Ledger) Retries(c *planner.Case, f *results.Failure) bool {
	r := l.Run(c.Run).Retry
	return r != nil && f.Kind != results.Wrong && slices.Contains(r.On, f.Kind) && trailing(l.Case(c.Key)) < r.Times
}

// trailing is how many attempts at the case's next launch have failed.
func trailing(c *results.Case) int {
	n := 0
	for i := len(c.Launches) - 1; i >= 0 && c.Launches[i].Retried; i-- {
		n++
	}
	return n
}

// Pause is how long to wait before cases are launched again, because one of them
// has just failed: by this process's clock, since the time of day may be set meanwhile. Of
// a failure in a former session it is not known how long it is ago, and all is waited for.
func (l *Ledger) Pause(cases []*planner.Case) time.Duration {
	var pause time.Duration
	for _, c := range cases {
		r := l.Run(c.Run).Retry
		if r == nil || trailing(l.Case(c.Key)) == 0 {
			continue
		}
		left := seconds(r.Wait)
		if at, ok := l.ended[c.Key]; ok {
			left -= time.Since(at)
		}
		pause = max(pause, left)
	}
	return pause
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
