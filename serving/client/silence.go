package client

import (
	"context"
	"sync/atomic"
	"time"
)

// silence ends a request that nothing comes of. An event only notes its time: the timer looks at
// it when it fires, since to set it for each of 100 000 events per second costs more than to read them.
type silence struct {
	c      *Client
	cancel context.CancelCauseFunc
	timer  *time.Timer
	last   atomic.Int64 // when the last event came, on the client's clock; before one 0
}

const never = time.Duration(1 << 62)

// awaitEvents begins with the time to the first event.
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

// heard notes that events have come.
func (s *silence) heard() {
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
		return // the first event came while the timer fired
	}
	if left := time.Duration(last-s.c.Now()) + s.c.cfg.Idle; left > 0 {
		s.timer.Reset(left)
		return
	}
	s.cancel(overdue("nothing more came within %v", s.c.cfg.Idle))
}
