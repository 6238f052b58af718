package link

import (
	"errors"
	"sort"
	"sync"
)

// maxUnacknowledged is how many bytes may wait to be acknowledged before Send waits.
const maxUnacknowledged = 64 << 20

// outbox keeps what was sent until it is acknowledged.
type outbox struct {
	mu      sync.Mutex
	changed sync.Cond
	queue   []outgoing
	next    uint64 // number of the next message's first piece
	bytes   int
	closed  bool  // nothing more is put in
	failed  error // nothing more is taken out
}

type outgoing struct {
	Message
	first, last uint64
}

func (m Message) size() int { return len(m.Head) + len(m.Body) }

func newOutbox() *outbox {
	o := &outbox{next: 1}
	o.changed.L = &o.mu
	return o
}

func (o *outbox) put(m Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > maxUnacknowledged && o.failed == nil && !o.closed {
		o.changed.Wait()
	}
	switch {
	case o.failed != nil:
		return o.failed
	case o.closed:
		return errors.New("the link was closed")
	}
	out := outgoing{Message: m, first: o.next}
	out.last = out.first + piecesOf(out.size()) - 1
	o.next = out.last + 1
	o.bytes += out.size()
	o.queue = append(o.queue, out)
	o.changed.Broadcast()
	return nil
}

// taken forgets messages whose last piece has at most this number.
func (o *outbox) taken(number uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) > 0 && o.queue[0].last <= number {
		o.bytes -= o.queue[0].size()
		o.queue[0] = outgoing{} // its bytes are not needed any more
		o.queue = o.queue[1:]
	}
	o.changed.Broadcast()
}

// piece waits for a piece to be there. It gives nil when there will be none because
// all was said, and an error when gone says so.
func (o *outbox) piece(number uint64, gone func() error) (*Piece, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		switch err := gone(); {
		case err != nil:
			return nil, err
		case number < o.next:
			return o.cut(number)
		case o.closed:
			return nil, nil
		}
		o.changed.Wait()
	}
}

func (o *outbox) cut(number uint64) (*Piece, error) {
	i := sort.Search(len(o.queue), func(i int) bool { return o.queue[i].last >= number })
	if i == len(o.queue) || o.queue[i].first > number {
		return nil, refused("the coordinator asks for piece %d, which it has acknowledged", number)
	}
	m := o.queue[i]
	p := &Piece{Number: number}
	if number == m.first {
		p.Start = &Start{Kind: m.Kind, Head: uint32(len(m.Head)), Body: uint32(len(m.Body))}
	}
	from := int(number-m.first) * pieceSize
	to := min(from+pieceSize, m.size())
	if from >= len(m.Head) {
		p.Data = m.Body[from-len(m.Head) : to-len(m.Head)]
		return p, nil
	}
	p.Data = append(p.Data, m.Head[from:min(to, len(m.Head))]...)
	if to > len(m.Head) {
		p.Data = append(p.Data, m.Body[:to-len(m.Head)]...)
	}
	return p, nil
}

func (o *outbox) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed.Broadcast()
}

// close lets nothing more in.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

// fail ends all waiting.
func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
	o.queue, o.bytes = nil, 0
	o.changed.Broadcast()
}
