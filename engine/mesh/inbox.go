package mesh

import (
	"context"
	"fmt"
	"sync"
	"syscall"

	"github.com/weir-bench/weir/engine"
)

// Inbox holds the messages of the other ranks until they are taken.
type Inbox struct {
	self int

	mu       sync.Mutex
	messages [][][]byte // by rank, in order
	lost     []error
	changed  chan struct{} // closed and replaced with each message
}

// InboxOf makes the inbox of a rank of a launch with this many ranks.
func InboxOf(self, ranks int) *Inbox {
	return &Inbox{
		self: self, messages: make([][][]byte, ranks), lost: make([]error, ranks), changed: make(chan struct{}),
	}
}

// Put is an OnMessage.
func (b *Inbox) Put(from int, message []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.lost[from] = err
	} else {
		b.messages[from] = append(b.messages[from], message)
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// Take waits until each other rank has sent a message, and takes one of each.
func (b *Inbox) Take(ctx context.Context) (messages [][]byte, err error) {
	messages = make([][]byte, len(b.messages))
	for from := range messages {
		if from == b.self {
			continue
		}
		if err := b.Await(ctx, from); err != nil {
			return nil, err
		}
		b.mu.Lock()
		messages[from], b.messages[from] = b.messages[from][0], b.messages[from][1:]
		b.mu.Unlock()
	}
	return messages, nil
}

// Await waits until there is a message of a rank.
func (b *Inbox) Await(ctx context.Context, from int) error {
	for {
		b.mu.Lock()
		changed, there, lost := b.changed, len(b.messages[from]) > 0, b.lost[from]
		b.mu.Unlock()
		switch {
		case there:
			return nil
		case lost != nil:
			return &engine.Error{
				Phase: "run", Peer: from, Code: -int(syscall.ECONNRESET),
				Text: fmt.Sprintf("lost rank %d: %v", from, lost),
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
