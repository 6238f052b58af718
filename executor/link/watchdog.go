package link

import (
	"sync"
	"time"
)

// watchdogSteps is how many steps the time of a watchdog has.
const watchdogSteps = 5

// watchdog calls a function when this process has run for some time without a Reset. A process
// that was suspended, or whose machine was, cannot say that a peer was silent: what the peer has
// sent meanwhile waits to be read. The time is counted in steps, and a suspension takes one step,
// however long it is.
type watchdog struct {
	expire func()

	mu    sync.Mutex
	left  int // steps; 0: it is stopped
	step  time.Duration
	timer *time.Timer // of the step
}

// newWatchdog makes a stopped one.
func newWatchdog(expire func()) *watchdog {
	w := &watchdog{expire: expire}
	w.timer = time.AfterFunc(time.Hour, w.tick)
	w.timer.Stop()
	return w
}

// Reset starts the time anew.
func (w *watchdog) Reset(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.step = watchdogSteps, d/watchdogSteps
	w.timer.Reset(w.step)
}

// Stop ends the time. A call of expire may be under way.
func (w *watchdog) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = 0
	w.timer.Stop()
}

func (w *watchdog) tick() {
	w.mu.Lock()
	if w.left == 0 {
		w.mu.Unlock()
		return
	}
	w.left--
	expired := w.left == 0
	if !expired {
		w.timer.Reset(w.step)
	}
	w.mu.Unlock()
	if expired {
		w.expire()
	}
}
