package daemon

import (
	"sync"
	"time"
)

// limit is how often something is said that strangers can cause.
type limit struct {
	mu      sync.Mutex
	said    int // since begun
	begun   time.Time
	skipped int
}

const (
	limitSpan = 10 * time.Second
	limitMost = 10 // in each span
)

// take says whether something may be said now, and how often it was not since it last was.
func (l *limit) take(now time.Time) (ok bool, skipped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.begun) >= limitSpan {
		l.begun, l.said = now, 0
	}
	if l.said == limitMost {
		l.skipped++
		return false, 0
	}
	l.said++
	skipped, l.skipped = l.skipped, 0
	return true, skipped
}
