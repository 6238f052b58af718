package cluster

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// change is one key below a watched prefix, written or deleted.
type change struct {
	name    string // below the prefix
	value   []byte
	deleted bool
}

// follow gives all keys below a prefix, those that are there and then those that
// come, without a gap between the two. It calls apply until ctx or the session
// ends; an error says that the watch broke before.
func (s *Session) follow(ctx context.Context, prefix string, apply func(change)) (run func() error, err error) {
	got, err := s.client.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", prefix, err)
	}
	for _, kv := range got.Kvs {
		apply(change{name: strings.TrimPrefix(string(kv.Key), prefix), value: kv.Value})
	}
	changes := s.client.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(got.Header.Revision+1))
	return func() error {
		for r := range changes {
			for _, e := range r.Events {
				apply(change{
					name:    strings.TrimPrefix(string(e.Kv.Key), prefix),
					value:   e.Kv.Value,
					deleted: e.Type == clientv3.EventTypeDelete,
				})
			}
			if err := r.Err(); err != nil && ctx.Err() == nil {
				return fmt.Errorf("watching %s: %w", prefix, err)
			}
		}
		if ctx.Err() == nil && s.ctx.Err() == nil {
			return fmt.Errorf("watching %s: etcd ended the watch", prefix)
		}
		return nil
	}, nil
}
