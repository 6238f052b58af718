package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	suspendTick   = 250 * time.Millisecond
	suspendGap    = time.Second      // a longer gap between ticks is a suspension
	suspendRecent = 10 * time.Second // how long a suspension may explain the loss of agents
)

// suspendDetector detects that this process or its machine was suspended. Agents leave a suspended
// coordinator through no fault of theirs.
type suspendDetector struct {
	mu    sync.Mutex
	last  time.Time     // of the last tick; zero before the first
	pause time.Duration // of the last suspension
	until time.Time     // end of the last suspension
}

// run ticks until ctx ends.
func (p *suspendDetector) run(ctx context.Context) {
	ticker := time.NewTicker(suspendTick)
	defer ticker.Stop()
	for {
		p.tick(time.Now())
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *suspendDetector) tick(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gap := now.Sub(p.last); !p.last.IsZero() && gap >= suspendGap {
		p.pause, p.until = gap, now
	}
	p.last = now
}

// note describes a recent suspension, "" if there was none.
func (p *suspendDetector) note(now time.Time) string {
	p.tick(now) // the call may precede the first tick after a suspension
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pause == 0 || now.Sub(p.until) > suspendRecent {
		return ""
	}
	return fmt.Sprintf("; the coordinator itself had not run for %v", p.pause.Round(100*time.Millisecond))
}
