package client

import (
	"context"
	"sync"
	"time"

	"github.com/weir-bench/weir/workload/serving/load"
)

// Load is the work of a client. A conversation is a list of turns, each sent when the one before has ended; most have
// one turn.
type Load struct {
	// Next returns the next conversation in the order of the schedule; nil: there are no more. Those without a time are
	// sent as soon as a slot is free. One goroutine calls it.
	Next func() []*load.Request
	// Slots limits the requests in flight; 0: no limit.
	Slots int
	// Until is when the last conversation may start; 0: no limit. Requests in flight then have Grace to end.
	Until int64
	Grace time.Duration
}

// MaxText limits the text of a conversation's answers, which later turns repeat.
const MaxText = 1 << 20

// Run sends a load and returns its records. When ctx is done, requests in flight are cancelled and unsent ones left
// out. done is called for each record, by many goroutines.
func (c *Client) Run(ctx context.Context, l Load, done func(*load.Record)) {
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
	free := make(chan []*load.Request)
	var workers sync.WaitGroup
	for range l.Slots {
		workers.Go(func() {
			for turns := range free {
				if turns[0].Due != load.Never || !c.over(ctx, l) { // it may have waited for the slot
					c.converse(ctx, turns, done)
				}
			}
		})
	}
	c.dispatch(ctx, l, func(turns []*load.Request) {
		select {
		case free <- turns:
		case <-ctx.Done():
		}
	})
	close(free)
	workers.Wait()
}

func (c *Client) runUnlimited(ctx context.Context, l Load, done func(*load.Record)) {
	var all sync.WaitGroup
	c.dispatch(ctx, l, func(turns []*load.Request) {
		all.Go(func() { c.converse(ctx, turns, done) })
	})
	all.Wait()
}

// dispatch hands over each conversation at its scheduled time.
func (c *Client) dispatch(ctx context.Context, l Load, to func([]*load.Request)) {
	for turns := l.Next(); turns != nil; turns = l.Next() {
		if !c.awaitDue(ctx, turns[0].Due) || c.over(ctx, l) {
			return
		}
		to(turns)
	}
}

// Each returns the conversations of a list one by one.
func Each(list [][]*load.Request) func() []*load.Request {
	return func() []*load.Request {
		if len(list) == 0 {
			return nil
		}
		first := list[0]
		list = list[1:]
		return first
	}
}

// over reports whether no more conversations may start.
func (c *Client) over(ctx context.Context, l Load) bool {
	return ctx.Err() != nil || l.Until > 0 && c.Now() >= l.Until
}

// await sleeps until a time of the client's clock; false if ctx is done before.
func (c *Client) await(ctx context.Context, at int64) bool {
	wait := time.Duration(at - c.Now())
	if at == load.Never || wait <= 0 {
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

// coarse is how late a timer of Go may fire in an idle process: it waits in epoll, in whole milliseconds.
const coarse = 1500 * time.Microsecond

// awaitDue sleeps until a scheduled time. The last part is a kernel sleep, late by less than 0.1 ms. It blocks a
// thread: only the dispatching goroutine may call it.
func (c *Client) awaitDue(ctx context.Context, at int64) bool {
	if at != load.Never && !c.await(ctx, at-coarse.Nanoseconds()) {
		return false
	}
	if left := at - c.Now(); at != load.Never && left > 0 {
		sleepExactly(left)
	}
	return c.await(ctx, at)
}

// converse sends the turns of a conversation, until one fails.
func (c *Client) converse(ctx context.Context, turns []*load.Request, done func(*load.Record)) {
	var answers []string
	left := MaxText
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
		if rec.Outcome != load.OK {
			return
		}
		answers = append(answers, rec.Answer)
	}
}
