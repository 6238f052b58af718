package mesh

import (
	"context"
	"fmt"
	"sync"
	"syscall"

	"weir/engine"
)

// Inbox are the messages of the other ranks that nobody has taken yet.
type Inbox struct {
	self int

	mu       sync.Mutex
	messages [][][]byte // by rank, in their order
	lost     []error
	changed  chan struct{} // closed and replaced when one comes
}

// InboxOf is that of one of so many ranks.
func InboxOf(self, ranks int) *Inbox {
	return &Inbox{
		self: self, messages: make([][][]byte, ranks), lost: make([]error, ranks), changed: make(chan struct{}),
	}
}

// Put is a Hear.
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
				Text: fmt.Sprintf("rank %d has gone: %v", from, lost),
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
