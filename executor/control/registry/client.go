package registry

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

// timeouts are the time limits for lost connections to etcd.
type timeouts struct {
	ttl     time.Duration // of the lease; a restarted etcd restarts it
	silence time.Duration // without an answer of etcd before this process gives up
}

var defaultTimeouts = timeouts{ttl: 20 * time.Second, silence: 60 * time.Second}

func (p timeouts) renewInterval() time.Duration { return p.ttl / 5 }

// client is a connection to etcd with a lease, to which all its keys are attached.
type client struct {
	etcd   *clientv3.Client
	gone   <-chan struct{} // Config.Gone
	failed <-chan struct{} // Config.Failed
	root   string          // prefix of all keys
	lease  clientv3.LeaseID
	ctx    context.Context // of watches, renewals and retries: ends when the lease is lost or with Close
	end    context.CancelCauseFunc
	wg     sync.WaitGroup
	lost   chan struct{}
	losing sync.Once
}

var (
	errLeaseGone = errors.New("this process's lease in etcd has expired: it was suspended or cut off for too long")
	errAway      = errors.New("etcd has been unreachable for too long")
	errFailed    = errors.New("etcd has failed")
	errClosed    = errors.New("disconnected from etcd")
)

func (d *client) open(ctx context.Context, c Config, p timeouts) (err error) {
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
		if refused := c.refusal(first); refused != nil {
			give(refused) // waiting would not help
		} else if c.Waiting != nil && first.Err() == nil {
			at := strings.Join(c.Endpoints, ", ")
			c.Waiting(fmt.Sprintf("etcd at %s does not answer; it may take up to %v", at, wait))
		}
	})
	defer func() {
		if !timer.Stop() {
			give(nil)
			<-noticed // so that Waiting is not called later
		}
	}()
	defer func() {
		if err == nil {
			return
		}
		if refused := c.refusal(ctx); refused != nil {
			err = refused
		}
		err = fmt.Errorf("connecting to etcd at %s: %w", strings.Join(c.Endpoints, ", "), err)
	}()
	if d.etcd, err = c.connect(first); err != nil {
		return err
	}
	d.lost = make(chan struct{})
	d.ctx, d.end = context.WithCancelCause(context.Background())
	if err := d.takeLease(first, p); err != nil {
		d.end(errClosed)
		d.etcd.Close()
		return err
	}
	return nil
}

func (d *client) takeLease(ctx context.Context, p timeouts) error {
	err := retry(ctx, func(ctx context.Context) error {
		grant, err := d.etcd.Grant(ctx, int64(p.ttl/time.Second))
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

// keep renews the lease until Close, or until it is lost: etcd reports that, or was unreachable for too
// long. The renewal of clientv3 gives up after the TTL, although a restarted etcd still has the lease.
func (d *client) keep(p timeouts) {
	last := time.Now()
	next := time.NewTimer(p.renewInterval())
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
		switch err := d.renew(&r, p.renewInterval()); {
		case err == nil:
			last, pause = time.Now(), firstPause
			next.Reset(p.renewInterval())
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

// renewal is a stream for many renewals: with users, opening a stream costs etcd a password check.
type renewal struct {
	stream pb.Lease_LeaseKeepAliveClient
	cancel context.CancelFunc
}

// renew renews the lease once. After an error the next renewal opens a new stream.
func (d *client) renew(r *renewal, limit time.Duration) (err error) {
	if r.stream == nil {
		var ctx context.Context
		ctx, r.cancel = context.WithCancel(d.ctx)
		defer time.AfterFunc(limit, r.cancel).Stop()
		r.stream, err = pb.NewLeaseClient(d.etcd.ActiveConnection()).LeaseKeepAlive(ctx)
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

func (d *client) lose(why error) {
	d.losing.Do(func() {
		d.end(why)
		close(d.lost)
	})
}

// Lost is closed when the lease is lost before Close, because this process was suspended or cut off, or
// etcd is gone. All keys of this client are gone then.
func (d *client) Lost() <-chan struct{} { return d.lost }

// Time limits for deleting keys: long enough for a busy machine, short after a second interrupt.
const (
	leaveTime = 20 * time.Second
	hurryTime = time.Second
)

// ErrNoAnswer is why a session's keys could not be deleted when it ended.
var ErrNoAnswer = errors.New("etcd does not answer; what the session has there ends with its lease")

func (d *client) leaving(hurry bool) (context.Context, context.CancelFunc) {
	limit := leaveTime
	select {
	case <-d.lost:
		limit = hurryTime
	default:
		if hurry {
			limit = hurryTime
		}
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, ErrNoAnswer)
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

// Close revokes the lease, which deletes all keys of this client. In a hurry it waits at most a second
// for etcd, and not at all if etcd is gone for good.
func (d *client) Close(hurry bool) error {
	ctx, cancel := d.leaving(hurry)
	defer cancel()
	err := retry(ctx, func(ctx context.Context) error {
		_, err := d.etcd.Revoke(ctx, d.lease)
		return err
	})
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		err = nil
	}
	select {
	case <-d.gone:
		err = nil // the keys expire with the lease
	default:
	}
	d.end(errClosed)
	d.wg.Wait()
	if cerr := d.etcd.Close(); cerr != nil && !errors.Is(cerr, context.Canceled) {
		err = errors.Join(err, cerr)
	}
	if err != nil {
		return fmt.Errorf("disconnecting from etcd: %w", leavingError(err))
	}
	return nil
}

// leavingError leaves out what gRPC says of an etcd that does not answer.
func leavingError(err error) error {
	if errors.Is(err, ErrNoAnswer) {
		return ErrNoAnswer
	}
	return err
}
