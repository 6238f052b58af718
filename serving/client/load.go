package client

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"weir/serving"
)

// Load is what a client is to send. A conversation is a list of turns, of which each is sent when
// the one before has ended; most have one.
type Load struct {
	// Next gives the next conversation, in the order in which they are due; nil: there is none
	// left. Those without a time are sent as soon as a slot is free. It is called by one goroutine.
	Next func() []*serving.Request
	// Slots are how many requests are in flight at most; 0: as many as are due.
	Slots int
	// Until is when no conversation is started any more; 0: when there are none left. Requests in
	// flight then have Grace.
	Until int64
	Grace time.Duration
}

// MostText is how much text the answers of a conversation have in all, which later turns repeat.
const MostText = 1 << 20

// Run sends a load and gives what became of it. When ctx is done, requests in flight are ended
// and those that were not sent are left out. done is called for each record, by many goroutines.
func (c *Client) Run(ctx context.Context, l Load, done func(*serving.Record)) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if l.Until > 0 {
		wait := time.Duration(l.Until-c.Now()) + l.Grace
		defer time.AfterFunc(max(0, wait), func() { cancel(ErrOver) }).Stop()
	}
	if l.Slots == 0 {
		c.runUnlimited(ctx, l, done)
		return
	}
	free := make(chan []*serving.Request)
	var workers sync.WaitGroup
	for range l.Slots {
		workers.Go(func() {
			for turns := range free {
				c.converse(ctx, turns, done)
			}
		})
	}
	c.dispatch(ctx, l, func(turns []*serving.Request) {
		select {
		case free <- turns:
		case <-ctx.Done():
		}
	})
	close(free)
	workers.Wait()
}

func (c *Client) runUnlimited(ctx context.Context, l Load, done func(*serving.Record)) {
	var all sync.WaitGroup
	c.dispatch(ctx, l, func(turns []*serving.Request) {
		all.Go(func() { c.converse(ctx, turns, done) })
	})
	all.Wait()
}

// dispatch hands over each conversation when it is due.
func (c *Client) dispatch(ctx context.Context, l Load, to func([]*serving.Request)) {
	for turns := l.Next(); turns != nil; turns = l.Next() {
		if !c.awaitDue(ctx, turns[0].Due) || c.over(ctx, l) {
			return
		}
		to(turns)
	}
}

// Each gives the conversations of a list.
func Each(list [][]*serving.Request) func() []*serving.Request {
	return func() []*serving.Request {
		if len(list) == 0 {
			return nil
		}
		first := list[0]
		list = list[1:]
		return first
	}
}

// over says whether no conversation is to be started any more.
func (c *Client) over(ctx context.Context, l Load) bool {
	return ctx.Err() != nil || l.Until > 0 && c.Now() >= l.Until
}

// await sleeps until a time of the client's clock; false: ctx was done before.
func (c *Client) await(ctx context.Context, at int64) bool {
	wait := time.Duration(at - c.Now())
	if at == serving.Never || wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// coarse is how late a timer of Go may fire in a process that does nothing: it waits in epoll, in
// whole milliseconds.
const coarse = 1500 * time.Microsecond

// awaitDue sleeps until a request is due. The last part is a sleep of the kernel's, which is late by
// less than 0.1 ms. It takes a thread, so that only the one goroutine that dispatches may do so.
func (c *Client) awaitDue(ctx context.Context, at int64) bool {
	if at != serving.Never && !c.await(ctx, at-coarse.Nanoseconds()) {
		return false
	}
	if left := at - c.Now(); at != serving.Never && left > 0 {
		rest := unix.NsecToTimespec(left)
		_ = unix.Nanosleep(&rest, nil) // a signal ends it early: await has the rest
	}
	return c.await(ctx, at)
}

// converse sends the turns of a conversation, until one fails.
func (c *Client) converse(ctx context.Context, turns []*serving.Request, done func(*serving.Record)) {
	var answers []string
	left := MostText
	for i, q := range turns {
		if i > 0 && !c.await(ctx, c.Now()+q.Think) {
			return
		}
		body := q.Body
		if q.Follow != nil {
			body = q.Follow(answers)
		}
		if i < len(turns)-1 {
			q.Text = max(left, 1)
		}
		rec := c.Send(ctx, q, body)
		left -= len(rec.Answer)
		done(rec)
		if rec.Outcome != serving.OK {
			return
		}
		answers = append(answers, rec.Answer)
	}
}
