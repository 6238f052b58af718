package client

import (
	"context"
	"sync/atomic"
	"time"
)

// silence cancels a request without progress. An event only stores its time, which the timer checks when it fires:
// resetting the timer for each of 100 000 events per second would cost more than reading them.
type silence struct {
	c      *Client
	cancel context.CancelCauseFunc
	timer  *time.Timer
	last   atomic.Int64 // time of the last event, on the client's clock; 0: none yet
}

const never = time.Duration(1 << 62)

// awaitEvents starts with the time limit of the first event.
func (c *Client) awaitEvents(cancel context.CancelCauseFunc) *silence {
	s := &silence{c: c, cancel: cancel}
	wait := never
	if c.cfg.First > 0 {
		wait = c.cfg.First
	}
	s.timer = time.AfterFunc(never, s.look)
	s.timer.Reset(wait)
	return s
}

// touch notes that events have come.
func (s *silence) touch() {
	first := s.last.Swap(max(1, s.c.Now())) == 0
	switch {
	case first && s.c.cfg.Idle > 0:
		s.timer.Reset(s.c.cfg.Idle)
	case first:
		s.timer.Stop()
	}
}

func (s *silence) look() {
	last := s.last.Load()
	if last == 0 {
		s.cancel(overdue("nothing came within %v", s.c.cfg.First))
		return
	}
	if s.c.cfg.Idle == 0 {
		return // the first event arrived while the timer fired
	}
	if left := time.Duration(last-s.c.Now()) + s.c.cfg.Idle; left > 0 {
		s.timer.Reset(left)
		return
	}
	s.cancel(overdue("nothing more came within %v", s.c.cfg.Idle))
}
