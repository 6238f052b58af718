package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// How long a process may be cut off from etcd.
type patience struct {
	// ttl is how long etcd keeps a lease of which it hears nothing: a network that is cut
	// for less loses nothing. An etcd that was away itself begins anew to count.
	ttl time.Duration
	// silence is how long etcd may be away before this process gives it up.
	silence time.Duration
}

var defaultPatience = patience{ttl: 20 * time.Second, silence: 60 * time.Second}

// beat is how often the lease is renewed.
func (p patience) beat() time.Duration { return p.ttl / 5 }

// door is a client of etcd with a lease of its own, on which all hangs that it writes.
type door struct {
	client *clientv3.Client
	gone   <-chan struct{} // closed: it never answers again
	failed <-chan struct{} // closed: it never answers again, and nobody need wait to be sure
	root   string          // of all keys
	lease  clientv3.LeaseID
	ctx    context.Context // of watches, renewals and retries: ends when the lease is lost and with Close
	end    context.CancelCauseFunc
	wg     sync.WaitGroup
	lost   chan struct{}
	losing sync.Once
}

var (
	errLeaseGone = errors.New("etcd has given up this process's lease: it was suspended, or cut off for too long")
	errAway      = errors.New("etcd has been away for too long")
	errFailed    = errors.New("etcd has failed")
	errClosed    = errors.New("left etcd")
)

func (d *door) open(ctx context.Context, c Config, p patience) (err error) {
	if err := c.Check(); err != nil {
		return err
	}
	d.root, _ = c.root()
	d.gone, d.failed = c.Gone, c.Failed
	wait := cmp.Or(c.Wait, connectTime)
	late, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("no answer within %v", wait))
	defer cancel()
	first, give := context.WithCancelCause(late)
	defer give(nil)
	noticed := make(chan struct{})
	timer := time.AfterFunc(notice, func() {
		defer close(noticed)
		if said := c.refusal(first); said != nil {
			give(said) // it is there, and waiting does not change its mind
		} else if c.Waiting != nil && first.Err() == nil {
			at := strings.Join(c.Endpoints, ", ")
			c.Waiting(fmt.Sprintf("etcd at %s does not answer; it may take up to %v", at, wait))
		}
	})
	defer func() {
		if !timer.Stop() {
			give(nil)
			<-noticed // nobody is told of a wait that is over
		}
	}()
	defer func() {
		if err == nil {
			return
		}
		if said := c.refusal(ctx); said != nil {
			err = said
		}
		err = fmt.Errorf("connecting to etcd at %s: %w", strings.Join(c.Endpoints, ", "), err)
	}()
	if d.client, err = c.connect(first); err != nil {
		return err
	}
	d.lost = make(chan struct{})
	d.ctx, d.end = context.WithCancelCause(context.Background())
	if err := d.takeLease(first, p); err != nil {
		d.end(errClosed)
		d.client.Close()
		return err
	}
	return nil
}

func (d *door) takeLease(ctx context.Context, p patience) error {
	err := retry(ctx, func(ctx context.Context) error {
		grant, err := d.client.Grant(ctx, int64(p.ttl/time.Second))
		if err == nil {
			d.lease = grant.ID
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("taking a lease: %w", err)
	}
	d.wg.Go(func() { d.keep(p) })
	return nil
}

// keep renews the lease until Close, or until it is lost: when etcd says so, or when it
// has been away for too long. The client's own renewal gives up after the time of the
// lease, although an etcd that comes back has kept it.
func (d *door) keep(p patience) {
	last := time.Now()
	next := time.NewTimer(p.beat())
	defer next.Stop()
	var r renewal
	for pause := firstPause; ; {
		select {
		case <-next.C:
		case <-d.failed:
			d.lose(errFailed)
			return
		case <-d.ctx.Done():
			return
		}
		switch err := d.renew(&r, p.beat()); {
		case err == nil:
			last, pause = time.Now(), firstPause
			next.Reset(p.beat())
		case errors.Is(err, rpctypes.ErrLeaseNotFound):
			d.lose(errLeaseGone)
		case time.Since(last) > p.silence:
			d.lose(fmt.Errorf("%w: %w", errAway, err))
		default:
			next.Reset(pause)
			pause = min(2*pause, longestPause)
		}
	}
}

// renewal is a stream on which a lease is renewed: one for many times, since opening one
// costs etcd the check of a password where users have them.
type renewal struct {
	stream pb.Lease_LeaseKeepAliveClient
	cancel context.CancelFunc
}

// renew renews the lease once. After an error the next time has a stream of its own.
func (d *door) renew(r *renewal, limit time.Duration) (err error) {
	if r.stream == nil {
		var ctx context.Context
		ctx, r.cancel = context.WithCancel(d.ctx)
		defer time.AfterFunc(limit, r.cancel).Stop()
		r.stream, err = pb.NewLeaseClient(d.client.ActiveConnection()).LeaseKeepAlive(ctx)
	} else {
		defer time.AfterFunc(limit, r.cancel).Stop()
	}
	defer func() {
		if err != nil {
			r.cancel()
			r.stream = nil
		}
	}()
	if err != nil {
		return err
	}
	if err := r.stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(d.lease)}); err != nil {
		return err
	}
	answer, err := r.stream.Recv()
	if err == nil && answer.TTL <= 0 {
		err = rpctypes.ErrLeaseNotFound
	}
	return err
}

func (d *door) lose(why error) {
	d.losing.Do(func() {
		d.end(why)
		close(d.lost)
	})
}

// Lost is closed when the lease has run out although nobody closed anything: this
// process was suspended or cut off, or etcd is gone. Nothing written is there any more.
func (d *door) Lost() <-chan struct{} { return d.lost }

// How long giving keys back may take. That it worked is part of what a session
// promises, so a busy machine must not make it an error; but nobody waits for an
// etcd that is gone, or after a second interrupt.
const (
	leaveTime = 20 * time.Second
	hurryTime = time.Second
)

func (d *door) leaving(hurry bool) (context.Context, context.CancelFunc) {
	limit := leaveTime
	select {
	case <-d.lost:
		limit = hurryTime
	default:
		if hurry {
			limit = hurryTime
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	if d.gone != nil {
		go func() {
			select {
			case <-d.gone:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// Close gives the lease back, and with it everything that this handle wrote. In a
// hurry it does not wait long for etcd, and not at all for one that is gone for good.
func (d *door) Close(hurry bool) error {
	ctx, cancel := d.leaving(hurry)
	defer cancel()
	err := retry(ctx, func(ctx context.Context) error {
		_, err := d.client.Revoke(ctx, d.lease)
		return err
	})
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		err = nil // it is gone, and all on it
	}
	select {
	case <-d.gone:
		err = nil // what is left ends with its lease
	default:
	}
	d.end(errClosed)
	d.wg.Wait()
	if cerr := d.client.Close(); cerr != nil && !errors.Is(cerr, context.Canceled) {
		err = errors.Join(err, cerr)
	}
	if err != nil {
		return fmt.Errorf("leaving etcd: %w", err)
	}
	return nil
}
