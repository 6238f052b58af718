package elastic

import (
	"context"
	"sync"
)

// events are the events that the leader has not handled yet.
type events struct {
	mu      sync.Mutex
	list    []event
	changed chan struct{} // has an element after an event
}

func newEvents() *events { return &events{changed: make(chan struct{}, 1)} }

func (q *events) put(e event) {
	q.mu.Lock()
	q.list = append(q.list, e)
	q.mu.Unlock()
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// take removes selected events from the list, in order.
func (q *events) take(meant func(event) bool) (taken []event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var rest []event
	for _, e := range q.list {
		if meant(e) {
			taken = append(taken, e)
		} else {
			rest = append(rest, e)
		}
	}
	q.list = rest
	return taken
}

// takeChange takes the first start or end of a process.
func (q *events) takeChange() (e event, any bool) {
	first := true
	taken := q.take(func(e event) bool {
		is := first && e.text == nil
		first = first && !is
		return is
	})
	if len(taken) == 0 {
		return event{}, false
	}
	return taken[0], true
}

// takeAnswers takes the answers of selected ranks.
func (q *events) takeAnswers(of func(rank int) bool) []event {
	return q.take(func(e event) bool { return e.text != nil && of(e.spoke.Rank) })
}

// wait waits until an event has occurred since its last call.
func (q *events) wait(ctx context.Context) error {
	select {
	case <-q.changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
