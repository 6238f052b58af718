package cluster

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Join registers this process as the agent of a node for as long as it lives.
func (s *Session) Join(ctx context.Context, node string, inventory []byte) error {
	if err := checkName("node", node); err != nil {
		return err
	}
	fresh, err := s.putNew(ctx, s.membersKey()+node, string(inventory))
	if err != nil {
		return fmt.Errorf("registering node %s: %w", node, err)
	}
	if !fresh {
		return fmt.Errorf("registering node %s: there is an agent of that name already", node)
	}
	return nil
}

// Member is an agent that came, or went when Gone.
type Member struct {
	Node      string
	Inventory []byte
	Gone      bool
}

// Members gives the agents that are there and then all that come and go. The
// channel is closed when ctx ends or the watch breaks.
func (s *Session) Members(ctx context.Context) (<-chan Member, error) {
	return stream(ctx, s, s.membersKey(), func(c change) (Member, bool) {
		return Member{Node: c.name, Inventory: c.value, Gone: c.deleted}, true
	})
}

// Place asks a node's agent to do a task.
func (s *Session) Place(ctx context.Context, node, task string, spec []byte) error {
	if err := checkName("task", task); err != nil {
		return err
	}
	if err := s.put(ctx, s.placementsKey()+node+"/"+task, string(spec)); err != nil {
		return fmt.Errorf("placing %s on node %s: %w", task, node, err)
	}
	return nil
}

// Placement is a task for a node, or the withdrawal of one.
type Placement struct {
	Task      string
	Spec      []byte
	Withdrawn bool
}

// Placements gives the tasks of a node as they come, and as they are withdrawn:
// those that were done are, too.
func (s *Session) Placements(ctx context.Context, node string) (<-chan Placement, error) {
	return stream(ctx, s, s.placementsKey()+node+"/", func(c change) (Placement, bool) {
		return Placement{Task: c.name, Spec: c.value, Withdrawn: c.deleted}, true
	})
}

// stream turns the changes below a prefix into a channel of what they mean.
func stream[T any](ctx context.Context, s *Session, prefix string, read func(change) (T, bool)) (<-chan T, error) {
	// a channel would block while the keys that are already there are applied
	var first []T
	out := make(chan T)
	started := false
	run, err := s.follow(ctx, prefix, func(c change) {
		v, ok := read(c)
		switch {
		case !ok:
		case !started:
			first = append(first, v)
		default:
			send(ctx, s, out, v)
		}
	})
	if err != nil {
		return nil, err
	}
	started = true
	s.wg.Go(func() {
		defer close(out)
		for _, v := range first {
			send(ctx, s, out, v)
		}
		_ = run() // the closed channel says that it broke
	})
	return out, nil
}

func send[T any](ctx context.Context, s *Session, out chan<- T, v T) {
	select {
	case out <- v:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
}

// Keys is the number of keys that some session has in etcd, this one's or
// another's: none, once it is over.
func (s *Session) Keys(ctx context.Context, session string) (int, error) {
	r, err := s.client.Get(ctx, sessionPrefix(session), clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("counting keys: %w", err)
	}
	return int(r.Count), nil
}
