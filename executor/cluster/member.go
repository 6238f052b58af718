package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Join registers this process as the agent of a node for as long as it lives.
func (s *Session) Join(ctx context.Context, node string, inventory []byte) error {
	if err := checkName("node", node); err != nil {
		return err
	}
	fresh, err := s.putNew(ctx, s.membersKey()+node, inventory)
	if err != nil {
		return fmt.Errorf("registering node %s: %w", node, err)
	}
	if !fresh {
		return fmt.Errorf("registering node %s: there is an agent of that name already", node)
	}
	return nil
}

// ErrGone ends a session: nothing that depends on etcd can come any more.
var ErrGone = errors.New("etcd is gone, or this process was suspended")

// Member is an agent that came, or went when Gone.
type Member struct {
	Node      string
	Inventory []byte
	Gone      bool
	revision  int64 // of its registration
}

// Members gives the agents that are there and then all that come and go. The
// channel is closed when ctx ends or the watch breaks.
func (s *Session) Members(ctx context.Context) (<-chan Member, error) {
	return stream(ctx, &s.door, followed{s.membersKey(), mostValue, pageKeys}, func(c change) (Member, bool) {
		m := Member{Node: c.name, Inventory: c.value, Gone: c.deleted, revision: c.revision}
		return m, checkName("node", c.name) == nil
	})
}

// stream turns the changes below a prefix into a channel of what they mean. While nobody takes
// one, nothing more is read from etcd.
func stream[T any](ctx context.Context, d *door, what followed, read func(change) (T, bool)) (<-chan T, error) {
	out := make(chan T)
	began, begun := make(chan error, 1), sync.Once{}
	d.wg.Go(func() {
		defer close(out)
		run, err := d.follow(ctx, what, func(c change) {
			if v, ok := read(c); ok {
				begun.Do(func() { began <- nil })
				send(ctx, d, out, v)
			}
		})
		begun.Do(func() { began <- err })
		if err == nil {
			_ = run(ctx) // the closed channel says that it broke
		}
	})
	if err := <-began; err != nil {
		return nil, err
	}
	return out, nil
}

func send[T any](ctx context.Context, d *door, out chan<- T, v T) {
	select {
	case out <- v:
	case <-ctx.Done():
	case <-d.ctx.Done():
	}
}
