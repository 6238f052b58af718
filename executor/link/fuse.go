package link

import (
	"sync"
	"time"
)

// fuseSteps is into how many parts the time of a fuse is cut.
const fuseSteps = 5

// fuse calls a function when a time has passed in which this process ran. A process that
// was suspended, or whose machine was, has no right to say that a peer was silent: what the
// peer has sent meanwhile waits to be read. So the time is counted in steps, of which a
// suspension, however long, takes one.
type fuse struct {
	burn func()

	mu    sync.Mutex
	left  int // steps; 0: it is out
	step  time.Duration
	timer *time.Timer // of the step
}

// newFuse makes one that is out.
func newFuse(burn func()) *fuse {
	f := &fuse{burn: burn}
	f.timer = time.AfterFunc(time.Hour, f.tick)
	f.timer.Stop()
	return f
}

// Reset lights the fuse anew.
func (f *fuse) Reset(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.step = fuseSteps, d/fuseSteps
	f.timer.Reset(f.step)
}

// Stop puts it out. A call of burn may be under way.
func (f *fuse) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = 0
	f.timer.Stop()
}

func (f *fuse) tick() {
	f.mu.Lock()
	if f.left == 0 {
		f.mu.Unlock()
		return
	}
	f.left--
	burnt := f.left == 0
	if !burnt {
		f.timer.Reset(f.step)
	}
	f.mu.Unlock()
	if burnt {
		f.burn()
	}
}
