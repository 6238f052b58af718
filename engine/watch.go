package engine

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// heartbeatInterval is short compared to the time after which an agent takes a rank for stuck.
const heartbeatInterval = 20 * time.Millisecond

// Watch sends heartbeats until stop is called. Its context ends when the agent aborts the launch, or after limit (0:
// none). The cause is an *Error.
func (c *Control) Watch(fabric string, limit time.Duration) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	fail := func(code syscall.Errno, text string) {
		cancel(&Error{Fabric: fabric, Phase: PhaseName(c.Phase.Load()), Peer: -1, Code: -int(code), Text: text})
	}
	clock := time.NewTicker(heartbeatInterval)
	over := make(<-chan time.Time)
	if limit > 0 {
		over = time.After(limit)
	}
	go func() {
		defer clock.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-over:
				fail(syscall.ETIMEDOUT, fmt.Sprintf("timeout after %v", limit))
			case <-clock.C:
				c.Heartbeat.Add(1)
				if c.Abort.Load() != 0 {
					fail(syscall.ECANCELED, "told to stop")
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
