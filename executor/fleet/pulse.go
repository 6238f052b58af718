package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	pulseEvery  = 250 * time.Millisecond
	pulseMissed = time.Second      // without a beat this process did not run
	pulseKept   = 10 * time.Second // for how long that may be why others went
)

// pulse notices when this process does not run: it was stopped, or its machine was. Agents
// then miss it and go, and it is not they who are to blame.
type pulse struct {
	mu    sync.Mutex
	last  time.Time // beat; zero: it has none yet
	pause time.Duration
	until time.Time // of the pause
}

// run beats until ctx ends.
func (p *pulse) run(ctx context.Context) {
	beat := time.NewTicker(pulseEvery)
	defer beat.Stop()
	for {
		p.beat(time.Now())
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gap := now.Sub(p.last); !p.last.IsZero() && gap >= pulseMissed {
		p.pause, p.until = gap, now
	}
	p.last = now
}

// note says that this process did not run for a while, to follow why an agent is gone; ""
// if it did.
func (p *pulse) note(now time.Time) string {
	p.beat(now) // who asks first after a pause may be before the next beat
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pause == 0 || now.Sub(p.until) > pulseKept {
		return ""
	}
	return fmt.Sprintf("; the coordinator itself had not run for %v", p.pause.Round(100*time.Millisecond))
}
