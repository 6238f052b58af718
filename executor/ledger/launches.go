package ledger

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// maxFailedLaunches is the number of failed launches at which a group is given up. A single failure may be due to one
// case, so the others continue.
const maxFailedLaunches = 2

// Enter adds a launch to a case of the document. A failed launch makes the case an error, unless it is retried or an
// assertion counts failed launches.
func (l *Ledger) Enter(key string, entry *results.Launch) {
	c := l.Case(key)
	c.Launches = append(c.Launches, entry)
	switch {
	case entry.Retried:
	case entry.Status == results.OK, l.index.failuresCounted[key]:
		c.Status, c.Reason = results.OK, ""
	default:
		c.Status, c.Reason = results.Error, fmt.Sprintf("%s: %s", results.LaunchName(entry.Index), entry.Failure)
	}
}

// GiveUpAfterFailures fails the remaining cases of a group after maxFailedLaunches.
func (l *Ledger) GiveUpAfterFailures(g *Group) {
	failed := l.failures(g)
	if len(failed) < maxFailedLaunches {
		return
	}
	last := slices.Max(slices.Collect(maps.Keys(failed)))
	cases := slices.DeleteFunc(slices.Clone(l.NextCases(g)),
		func(c *planner.Case) bool { return l.index.failuresCounted[c.Key] })
	l.DecideAll(cases, results.Error, fmt.Sprintf("%d launches of its group failed; the last: %s", len(failed),
		failed[last]))
}

// GiveUp fails the cases of a group's next launch.
func (l *Ledger) GiveUp(g *Group, reason string) { l.DecideAll(l.NextCases(g), results.Error, reason) }

// Retries reports whether a case's failed launch is retried: its run retries this kind of failure, and has attempts
// left.
func (l *Ledger) Retries(c *planner.Case, f *results.Failure) bool {
	r := l.Run(c.Run).Retry
	return r != nil && f.Kind != results.Wrong && slices.Contains(r.On, f.Kind) &&
		failedAttempts(l.Case(c.Key)) < r.Times
}

func failedAttempts(c *results.Case) int {
	n := 0
	for i := len(c.Launches) - 1; i >= 0 && c.Launches[i].Retried; i-- {
		n++
	}
	return n
}

// RetryDelay is the rest of the wait before cases with a failed attempt are launched again. The full wait applies after
// a failure in a resumed session, which has no monotonic time.
func (l *Ledger) RetryDelay(cases []*planner.Case) time.Duration {
	var pause time.Duration
	for _, c := range cases {
		r := l.Run(c.Run).Retry
		if r == nil || failedAttempts(l.Case(c.Key)) == 0 {
			continue
		}
		left := time.Duration(r.Wait * float64(time.Second))
		if at, ok := l.ended[c.Key]; ok {
			left -= time.Since(at)
		}
		pause = max(pause, left)
	}
	return pause
}
