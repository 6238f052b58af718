package link

import (
	"errors"
	"fmt"
	"sort"
	"sync"
)

// Limits of unacknowledged bytes.
const (
	maxReports = 64 << 20  // above it, Send of an agent blocks
	maxOrders  = 256 << 20 // above it, the instance's link ends
)

// maxAhead is the limit of unacknowledged bytes at the start of a message. The receiver can buffer them
// all, and so always reads on to the acknowledgements behind them.
const maxAhead = window

// messageCost is the overhead of a message in the accounting of bytes.
const messageCost = 128

func (m Message) size() int { return len(m.Head) + len(m.Body) }

// costOf is the accounted size of a message.
func costOf(size int) int64 { return int64(size) + messageCost }

// outbox keeps the messages of one side until they are acknowledged, and its pending acknowledgement. It
// belongs to an instance; a sender transmits its contents over a connection.
type outbox struct {
	mu         sync.Mutex
	changed    sync.Cond
	queue      []outgoing
	next       uint64  // number of the next message's first piece
	sent       uint64  // the highest number of a sent piece
	total      int64   // cost of all messages so far
	taken      int64   // cost of the acknowledged ones
	pendingAck receipt // of the messages that this side has taken
	acked      receipt // the last one that was sent
	closed     bool    // accepts no further messages
	dropped    bool    // sends no further messages
	failed     error   // the link has ended
}

// outgoing is a message with the numbers of its pieces.
type outgoing struct {
	Message
	first, last uint64
	before      int64 // cost of all messages before it
}

// receipt acknowledges messages of the other side.
type receipt struct {
	piece uint64 // the last piece
	cost  int64  // of all messages up to it
}

func newOutbox() *outbox {
	o := &outbox{next: 1}
	o.changed.L = &o.mu
	return o
}

// put queues a message. It waits while more than maxReports are unacknowledged.
func (o *outbox) put(m Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.total-o.taken > maxReports && o.failed == nil && !o.closed {
		o.changed.Wait()
	}
	return o.add(m)
}

// errOverflow means that more than maxOrders are unacknowledged.
var errOverflow = fmt.Errorf("more than %d MiB of orders were not acknowledged", maxOrders>>20)

// putNow queues a message without waiting. It returns errOverflow if the queue is too long then.
func (o *outbox) putNow(m Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.add(m); err != nil {
		return err
	}
	if o.total-o.taken > maxOrders {
		return errOverflow
	}
	return nil
}

func (o *outbox) add(m Message) error {
	switch {
	case o.failed != nil:
		return o.failed
	case o.closed:
		return errClosed
	}
	out := outgoing{Message: m, first: o.next, before: o.total}
	out.last = out.first + piecesOf(m.size()) - 1
	o.next = out.last + 1
	o.total += costOf(m.size())
	o.queue = append(o.queue, out)
	o.changed.Broadcast()
	return nil
}

// acknowledge sets the pending acknowledgement.
func (o *outbox) acknowledge(r receipt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pendingAck = r
	o.changed.Broadcast()
}

// acknowledged is the last acknowledgement that was sent.
func (o *outbox) acknowledged() receipt {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acked
}

// resume makes the sender of a new connection; the other side has received a number of pieces.
func (o *outbox) resume(received uint64) (*sender, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if received > o.sent {
		return nil, fmt.Errorf("it reports %d received pieces of %d sent ones", received, o.sent)
	}
	if len(o.queue) > 0 && received+1 < o.queue[0].first || len(o.queue) == 0 && received+1 < o.next {
		return nil, fmt.Errorf("it asks for piece %d, which it has acknowledged", received+1)
	}
	return &sender{out: o, next: received + 1}, nil
}

// forget removes the messages up to a piece.
func (o *outbox) forget(number uint64) {
	done := sort.Search(len(o.queue), func(i int) bool { return o.queue[i].last > number })
	for i := range o.queue[:done] {
		o.taken += costOf(o.queue[i].size())
		o.queue[i] = outgoing{} // frees its bytes
	}
	o.queue = o.queue[done:]
	o.changed.Broadcast()
}

// close accepts no further messages: the queue is sent, and then the last frame.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

// drop empties the queue and accepts no further messages: the last frame is next.
func (o *outbox) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.dropped = true, true
	o.clear()
}

// fail ends all waits and all lines. The first error stays.
func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
	}
	o.clear()
}

func (o *outbox) clear() {
	o.queue, o.taken = nil, o.total
	o.changed.Broadcast()
}

var errConnectionEnded = errors.New("the connection is over")
