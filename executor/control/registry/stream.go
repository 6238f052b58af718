package registry

import (
	"context"
	"errors"
	"sync"
)

// ErrGone ends a session: etcd and the session's reservations are lost for good.
var ErrGone = errors.New("etcd is gone, or this process was suspended")

// stream decodes the changes below a prefix into a channel. It stops reading from etcd while the channel
// is full.
func stream[T any](ctx context.Context, d *client, what followed, read func(change) (T, bool)) (<-chan T, error) {
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
			_ = run(ctx) // the closed channel reports the failure
		}
	})
	if err := <-began; err != nil {
		return nil, err
	}
	return out, nil
}

func send[T any](ctx context.Context, d *client, out chan<- T, v T) {
	select {
	case out <- v:
	case <-ctx.Done():
	case <-d.ctx.Done():
	}
}
