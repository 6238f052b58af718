package link

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWatchdogExpiresInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, expired := time.Now(), time.Duration(0)
		f := newWatchdog(nil)
		f.expire = func() { expired = time.Since(begin) }
		f.Reset(time.Second)
		time.Sleep(900 * time.Millisecond)
		f.Reset(time.Second) // a sign of life
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if expired != 1900*time.Millisecond {
			t.Errorf("it expired after %v", expired)
		}
		expired = 0
		f.Reset(time.Second)
		f.Stop()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if expired != 0 {
			t.Errorf("it was stopped, and expired after %v", expired)
		}
	})
}

// A node with its last sign of life at its death is gone for its coordinator within three
// seconds, even where one step of the watchdog is as late as it is long.
func TestADeadNodeIsNoticedWithinThreeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, expired := time.Now(), time.Duration(0)
		f := newWatchdog(func() { expired = time.Since(begin) })
		f.Reset(timeoutsOf(0).silence)
		time.Sleep(time.Minute)
		synctest.Wait()
		if step := timeoutsOf(0).silence / watchdogSteps; expired <= 0 || expired+step > 3*time.Second {
			t.Errorf("it is noticed after %v, in steps of %v", expired, step)
		}
	})
}

// A suspension is a timer that comes late, however late: one step, whatever the clock says.
func TestWatchdogCountsASuspensionAsOneStep(t *testing.T) {
	expired := 0
	f := newWatchdog(func() { expired++ })
	f.Reset(time.Hour)
	f.tick()
	if expired > 0 || f.left != watchdogSteps-1 {
		t.Errorf("after one step %d are left, expired %d times", f.left, expired)
	}
	f.Reset(time.Hour) // what waited to be read
	for range watchdogSteps - 1 {
		f.tick()
	}
	if expired != 0 {
		t.Error("it expires before its time")
	}
	for range 3 {
		f.tick()
	}
	if expired != 1 {
		t.Errorf("it expired %d times", expired)
	}
}
