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
