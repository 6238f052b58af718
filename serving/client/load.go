package client

import (
	"context"
	"sync"
	"time"

	"weir/serving"
)

// Load is what a client is to send. A conversation is a list of turns, of which each is sent when
// the one before has ended; most have one.
type Load struct {
	// Conversations come in the order in which they are due; those without a time are sent as
	// soon as a slot is free.
	Conversations [][]*serving.Request
	// Slots are how many requests are in flight at most; 0: as many as are due.
	Slots int
	// Until is when no conversation is started any more; 0: when there are none left. Requests in
	// flight then have Grace.
	Until int64
	Grace time.Duration
}

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
	due := make(chan []*serving.Request, len(l.Conversations))
	var workers sync.WaitGroup
	for range min(l.Slots, len(l.Conversations)) {
		workers.Go(func() {
			for turns := range due {
				if !c.over(ctx, l) {
					c.converse(ctx, turns, done)
				}
			}
		})
	}
	for _, turns := range l.Conversations {
		if !c.await(ctx, turns[0].Due) || c.over(ctx, l) {
			break
		}
		due <- turns
	}
	close(due)
	workers.Wait()
}

func (c *Client) runUnlimited(ctx context.Context, l Load, done func(*serving.Record)) {
	var all sync.WaitGroup
	for _, turns := range l.Conversations {
		if !c.await(ctx, turns[0].Due) || c.over(ctx, l) {
			break
		}
		all.Go(func() { c.converse(ctx, turns, done) })
	}
	all.Wait()
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

// converse sends the turns of a conversation, until one fails.
func (c *Client) converse(ctx context.Context, turns []*serving.Request, done func(*serving.Record)) {
	var answers []string
	for i, q := range turns {
		if i > 0 && !c.await(ctx, c.Now()+q.Think) {
			return
		}
		body := q.Body
		if q.Follow != nil {
			body = q.Follow(answers)
		}
		rec := c.Send(ctx, q, body)
		done(rec)
		if rec.Outcome != serving.OK {
			return
		}
		answers = append(answers, rec.Answer)
	}
}
