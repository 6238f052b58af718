package cluster

import (
	"context"
	"errors"
	"fmt"
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
	return stream(ctx, &s.door, s.membersKey(), func(c change) (Member, bool) {
		return Member{Node: c.name, Inventory: c.value, Gone: c.deleted, revision: c.revision}, true
	})
}

// stream turns the changes below a prefix into a channel of what they mean.
func stream[T any](ctx context.Context, d *door, prefix string, read func(change) (T, bool)) (<-chan T, error) {
	// a channel would block while the keys that are already there are applied
	var first []T
	out := make(chan T)
	started := false
	run, err := d.follow(ctx, prefix, func(c change) {
		v, ok := read(c)
		switch {
		case !ok:
		case !started:
			first = append(first, v)
		default:
			send(ctx, d, out, v)
		}
	})
	if err != nil {
		return nil, err
	}
	started = true
	d.wg.Go(func() {
		defer close(out)
		for _, v := range first {
			send(ctx, d, out, v)
		}
		_ = run(ctx) // the closed channel says that it broke
	})
	return out, nil
}

func send[T any](ctx context.Context, d *door, out chan<- T, v T) {
	select {
	case out <- v:
	case <-ctx.Done():
	case <-d.ctx.Done():
	}
}
