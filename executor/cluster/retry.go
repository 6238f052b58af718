package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// attemptTime bounds one attempt: a member that was stopped or cut off takes requests
	// and does not answer, and the next attempt goes to another.
	attemptTime = 5 * time.Second
	// pauses between attempts
	firstPause, longestPause = 20 * time.Millisecond, 500 * time.Millisecond
)

// retry does something with etcd until it is done, ctx ends, or etcd says that it cannot
// be done. Members restart, lose their leader and are cut off: none of that is an error
// while there is time. What is done must bear being done twice.
func retry(ctx context.Context, do func(ctx context.Context) error) error {
	pause := firstPause
	var reason error // for which it was not done, but for the lack of time
	for limit := attemptTime; ; pause = min(2*pause, longestPause) {
		attempt, cancel := context.WithTimeout(ctx, limit)
		err := do(attempt)
		late := attempt.Err() != nil || expired(err)
		cancel()
		if err == nil || ctx.Err() == nil && !late && !transient(err) {
			return err
		}
		if transient(err) {
			reason = err
		}
		if late {
			limit = min(2*limit, 8*attemptTime) // it may be much that is on its way
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return gaveUp(ctx, reason)
		}
	}
}

// gaveUp says why there was no time left, and what kept it from being done until then.
func gaveUp(ctx context.Context, reason error) error {
	cause := context.Cause(ctx)
	if reason != nil {
		return fmt.Errorf("%w: %w", cause, reason)
	}
	return cause
}

// transient says whether etcd, or the way to it, may be back after a while.
func transient(err error) bool {
	if e, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return e.Code() == codes.Unavailable || e == rpctypes.ErrTooManyRequests || e == rpctypes.ErrInvalidAuthToken ||
			e == rpctypes.ErrAuthOldRevision
	}
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.Unavailable
}

// expired says whether time ran out, which gRPC can notice before the context does.
func expired(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
}

// try is retry for as long as the lease lives.
func (d *door) try(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, end := d.while(ctx)
	defer end()
	err := retry(ctx, do)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		d.lose(errLeaseGone)
		return errLeaseGone
	}
	return err
}

// while is a context that ends with another or with the door, whichever is first.
func (d *door) while(ctx context.Context) (context.Context, context.CancelFunc) {
	both, end := context.WithCancelCause(ctx)
	if d.ctx.Err() != nil {
		end(context.Cause(d.ctx)) // now: AfterFunc has a goroutine of its own, which may come late
	}
	stop := context.AfterFunc(d.ctx, func() { end(context.Cause(d.ctx)) })
	return both, func() { stop(); end(nil) }
}
