package link

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestFuseBurnsInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, burnt := time.Now(), time.Duration(0)
		f := newFuse(nil)
		f.burn = func() { burnt = time.Since(begin) }
		f.Reset(time.Second)
		time.Sleep(900 * time.Millisecond)
		f.Reset(time.Second) // a sign of life
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if burnt != 1900*time.Millisecond {
			t.Errorf("it burnt after %v", burnt)
		}
		burnt = 0
		f.Reset(time.Second)
		f.Stop()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if burnt != 0 {
			t.Errorf("it was put out, and burnt after %v", burnt)
		}
	})
}

// A node whose last sign of life came as it died is gone for its coordinator within three
// seconds, even where one step of the fuse is as late as it is long.
func TestADeadNodeIsNoticedWithinThreeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, burnt := time.Now(), time.Duration(0)
		f := newFuse(func() { burnt = time.Since(begin) })
		f.Reset(paceOf(0).silence)
		time.Sleep(time.Minute)
		synctest.Wait()
		if step := paceOf(0).silence / fuseSteps; burnt <= 0 || burnt+step > 3*time.Second {
			t.Errorf("it is noticed after %v, in steps of %v", burnt, step)
		}
	})
}

// A suspension is a timer that comes late, however late: one step, whatever the clock says.
func TestFuseCountsASuspensionAsOneStep(t *testing.T) {
	burnt := 0
	f := newFuse(func() { burnt++ })
	f.Reset(time.Hour)
	f.tick()
	if burnt > 0 || f.left != fuseSteps-1 {
		t.Errorf("after one step %d are left, burnt %d times", f.left, burnt)
	}
	f.Reset(time.Hour) // what waited to be read
	for range fuseSteps - 1 {
		f.tick()
	}
	if burnt != 0 {
		t.Error("it burns before its time")
	}
	for range 3 {
		f.tick()
	}
	if burnt != 1 {
		t.Errorf("it burnt %d times", burnt)
	}
}
