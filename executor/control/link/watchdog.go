package link

import (
	"sync"
	"time"
)

// watchdogSteps is the number of steps of a watchdog's time.
const watchdogSteps = 5

// watchdog calls a function when this process has run for some time without a Reset. After a suspension
// of the process, messages of a peer may still have to be read: the time is counted in steps, and a
// suspension of any length takes one step.
type watchdog struct {
	expire func()

	mu    sync.Mutex
	left  int // steps; 0: stopped
	step  time.Duration
	timer *time.Timer // of the step
}

// newWatchdog makes a stopped watchdog.
func newWatchdog(expire func()) *watchdog {
	w := &watchdog{expire: expire}
	w.timer = time.AfterFunc(time.Hour, w.tick)
	w.timer.Stop()
	return w
}

// Reset restarts the time.
func (w *watchdog) Reset(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.step = watchdogSteps, d/watchdogSteps
	w.timer.Reset(w.step)
}

// Stop stops the watchdog. A call of expire may be running.
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
