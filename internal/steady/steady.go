// Package steady tells times of day that go on evenly: they follow from one reading of the time of day and from the
// monotonic clock. If the host's clock is set meanwhile, times keep their order and their distances.
package steady

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock is such a clock. Processes of one host can share it. The zero Clock tells the time of day as the host does.
type Clock struct {
	day  time.Time // a time of day, UTC
	read time.Time // the same instant, with its monotonic reading
}

// New returns a clock that starts at the present time of day, but not before a given time.
func New(notBefore time.Time) Clock {
	read := time.Now()
	return Clock{latest(read.UTC(), notBefore.UTC()), read}
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// At returns the time of day, in UTC, at a time that this process has read. A time without a monotonic reading is of
// this clock already, as those in virtual time are.
func (c Clock) At(t time.Time) time.Time {
	if c.read.IsZero() || t == t.Round(0) {
		return t.UTC()
	}
	return c.day.Add(t.Sub(c.read))
}

// Now is the present time of day.
func (c Clock) Now() time.Time { return c.At(time.Now()) }

// Ahead returns by how much the clock is ahead of the host's monotonic clock, in ns.
func (c Clock) Ahead() int64 { return c.Now().UnixNano() - monotonic() }

// Of returns the clock of another process of this host, by what its Ahead returns; 0: there is none.
func Of(ahead int64) Clock {
	if ahead == 0 {
		return Clock{}
	}
	read := time.Now()
	return Clock{time.Unix(0, monotonic()+ahead).UTC(), read}
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return t.Nano()
}
