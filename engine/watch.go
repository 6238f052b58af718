package engine

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// beatEvery is often enough for an agent that looks whether ranks move.
const beatEvery = 20 * time.Millisecond

// Watch shows until stop is called that the rank is alive. Its context is done when the agent has
// the launch stopped, or limit is over; 0: there is none. The cause is an *Error.
func (c *Control) Watch(fabric string, limit time.Duration) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	fail := func(code syscall.Errno, text string) {
		cancel(&Error{Fabric: fabric, Phase: PhaseName(c.Phase.Load()), Peer: -1, Code: -int(code), Text: text})
	}
	clock := time.NewTicker(beatEvery)
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
				fail(syscall.ETIMEDOUT, fmt.Sprintf("the time of %v is up", limit))
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
