package fleet

import (
	"sync"
	"time"
)

// rateLimit limits messages that untrusted peers can cause.
type rateLimit struct {
	mu      sync.Mutex
	count   int // since begun
	begun   time.Time
	skipped int
}

const (
	limitSpan = 10 * time.Second
	limitMost = 10 // in each span
)

// take reports whether a message may be printed now, and the number of skipped ones since the last.
func (l *rateLimit) take(now time.Time) (ok bool, skipped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.begun) >= limitSpan {
		l.begun, l.count = now, 0
	}
	if l.count == limitMost {
		l.skipped++
		return false, 0
	}
	l.count++
	skipped, l.skipped = l.skipped, 0
	return true, skipped
}
