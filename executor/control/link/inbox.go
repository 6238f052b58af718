package link

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
)

// inbox assembles the pieces of the other side and passes the messages to take, one after the other. It
// belongs to an instance and survives broken connections.
type inbox struct {
	take   func(Message) error
	failed func(error)         // called once, if take fails
	out    *outbox             // for acknowledgements
	budget *semaphore.Weighted // bytes of messages of several pieces; nil: no common limit

	// of the present connection
	received  uint64 // pieces
	cost      int64  // of all messages that have come
	assembled *assembled

	mu     sync.Mutex
	queue  []arrived     // complete messages
	done   chan struct{} // closed when the queue is empty and take has returned; nil before the first message
	taking bool
	closed bool // no further messages are taken
	err    error
}

// assembled is a message of which pieces are missing.
type assembled struct {
	head     int
	size     int
	bytes    []byte
	reserved bool
}

// arrived is a complete message.
type arrived struct {
	Message
	receipt
	reserved int64 // bytes of the budget
}

// handle handles a piece or an acknowledgement, the frames that both sides send.
func (in *inbox) handle(ctx context.Context, tx *sender, f *frame) error {
	switch {
	case f.Piece != nil:
		return in.piece(ctx, f.Piece, f.Data)
	case f.Taken > 0:
		return tx.taken(f.Taken)
	}
	return errors.New("it sends a frame of unknown type")
}

// piece handles a piece. It may wait for the budget until ctx ends.
func (in *inbox) piece(ctx context.Context, p *piece, data []byte) error {
	if p.Number != in.received+1 {
		return fmt.Errorf("it sends piece %d after piece %d", p.Number, in.received)
	}
	if (p.Start != nil) != (in.assembled == nil) {
		return errors.New("it starts a message inside another one, or continues none")
	}
	if p.Start != nil {
		if err := in.start(ctx, p.Start); err != nil {
			return err
		}
	}
	a := in.assembled
	if want := min(pieceSize, a.size-len(a.bytes)); len(data) != want {
		return fmt.Errorf("a piece of %d bytes: must have %d", len(data), want)
	}
	if a.size <= pieceSize {
		a.bytes = data
	} else {
		a.bytes = append(a.bytes, data...)
	}
	in.received = p.Number
	if len(a.bytes) == a.size {
		in.assembled = nil
		in.finish(a)
	}
	return nil
}

// start begins to assemble a message.
func (in *inbox) start(ctx context.Context, s *start) error {
	if s.Head > MaxHead || s.Body > MaxBody { // before the conversion to int
		return checkSizes(int(min(s.Head, MaxHead+1)), int(min(s.Body, MaxBody+1)))
	}
	if ahead := in.cost - in.out.acknowledged().cost; ahead > maxAhead {
		return fmt.Errorf("it starts a message while %d bytes are not acknowledged: %d are allowed", ahead, maxAhead)
	}
	a := &assembled{head: int(s.Head), size: int(s.Head) + int(s.Body)}
	if a.size > pieceSize { // a message of one piece uses the bytes of the piece
		if in.budget != nil {
			if err := in.budget.Acquire(ctx, int64(a.size)); err != nil {
				return err
			}
			a.reserved = true
		}
		a.bytes = make([]byte, 0, a.size)
	}
	in.assembled = a
	return nil
}

// finish queues a complete message.
func (in *inbox) finish(a *assembled) {
	in.cost += costOf(a.size)
	m := arrived{
		Message: Message{Head: a.bytes[:a.head:a.head], Body: a.bytes[a.head:]},
		receipt: receipt{piece: in.received, cost: in.cost},
	}
	if a.reserved {
		m.reserved = int64(a.size)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		in.release(m.reserved)
		return
	}
	in.queue = append(in.queue, m)
	if !in.taking {
		in.taking, in.done = true, make(chan struct{})
		go in.takeAll()
	}
}

// takeAll takes messages until the queue is empty.
func (in *inbox) takeAll() {
	for {
		m, ok := in.first()
		if !ok {
			return
		}
		err := in.take(m.Message)
		in.release(m.reserved)
		if err == nil {
			in.out.acknowledge(m.receipt)
			continue
		}
		in.mu.Lock()
		in.err = err
		in.close()
		in.mu.Unlock()
		in.failed(err)
	}
}

// first removes the first message of the queue, or ends takeAll.
func (in *inbox) first() (m arrived, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.queue) == 0 {
		in.taking = false
		close(in.done)
		return m, false
	}
	m = in.queue[0]
	in.queue[0] = arrived{} // frees its bytes
	in.queue = in.queue[1:]
	return m, true
}

// idle is closed when all queued messages were taken.
func (in *inbox) idle() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.done == nil {
		in.done = make(chan struct{})
		close(in.done)
	}
	return in.done
}

// drained waits until all queued messages were taken, and returns the error of take.
func (in *inbox) drained() error {
	<-in.idle()
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err
}

// discard drops queued and further messages.
func (in *inbox) discard() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.close()
}

func (in *inbox) close() {
	in.closed = true
	for _, m := range in.queue {
		in.release(m.reserved)
	}
	in.queue = nil
}

// abandon drops an incomplete message.
func (in *inbox) abandon() {
	if a := in.assembled; a != nil && a.reserved {
		in.release(int64(a.size))
	}
	in.assembled = nil
}

func (in *inbox) release(bytes int64) {
	if bytes > 0 {
		in.budget.Release(bytes)
	}
}
