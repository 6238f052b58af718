package steady

import (
	"testing"
	"time"
	"unsafe"
)

// set returns a time as a process reads it after the clock was set forwards by whole seconds: its
// monotonic reading stays.
func set(t time.Time, by time.Duration) time.Time {
	const secondsAt = 30 // of the time of day, in the first word of a time with a monotonic reading
	*(*uint64)(unsafe.Pointer(&t)) += uint64(by/time.Second) << secondsAt
	return t
}

func TestClockThatIsSet(t *testing.T) {
	c := New(time.Time{})
	begin := c.read
	for _, by := range []time.Duration{0, time.Hour, -time.Hour, -24 * time.Hour, 13 * 365 * 24 * time.Hour} {
		later := set(begin.Add(time.Second), by)
		if later.Round(0).Sub(begin.Round(0)) != time.Second+by || later.Sub(begin) != time.Second {
			t.Fatalf("the test does not set a time by %v: %v", by, later)
		}
		if got := c.At(later).Sub(c.At(begin)); got != time.Second {
			t.Errorf("set by %v, a second takes %v", by, got)
		}
	}
}

func TestTimesOfTheClock(t *testing.T) {
	c := New(time.Now().Add(time.Hour))
	at := c.Now()
	if got := c.At(at.Local()); !got.Equal(at) || got.Location() != time.UTC {
		t.Errorf("%v becomes %v", at, got)
	}
	if got := (Clock{}).At(at); !got.Equal(at) {
		t.Errorf("without a clock, %v becomes %v", at, got)
	}
}

func TestClockThatIsNotBefore(t *testing.T) {
	end := time.Now().Add(time.Hour)
	if got := New(end).Now(); got.Before(end) {
		t.Errorf("%v is before %v", got, end)
	}
	if got := time.Until(New(time.Now().Add(-time.Hour)).Now()).Abs(); got > time.Minute {
		t.Errorf("the clock is %v off", got)
	}
}

func TestClockOfAnotherProcess(t *testing.T) {
	c := New(time.Now().Add(time.Hour))
	if got := Of(c.Ahead()).Now().Sub(c.Now()).Abs(); got > 10*time.Second {
		t.Errorf("both differ by %v", got)
	}
}
