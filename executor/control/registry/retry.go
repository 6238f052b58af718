package registry

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
	// attemptTime is the time limit of one attempt: a suspended member accepts requests without answering,
	// and the next attempt goes to another one.
	attemptTime = 5 * time.Second
	// firstPause and longestPause are pauses between attempts.
	firstPause, longestPause = 20 * time.Millisecond, 500 * time.Millisecond
)

// retry repeats a request until it succeeds, ctx ends, or the error is permanent. Restarts, lost leaders
// and lost connections are not permanent. The request must be idempotent.
func retry(ctx context.Context, do func(ctx context.Context) error) error {
	pause := firstPause
	var reason error // the last transient error
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
			limit = min(2*limit, 8*attemptTime) // the answer may be large
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			if reason != nil {
				return fmt.Errorf("%w: %w", context.Cause(ctx), reason)
			}
			return context.Cause(ctx)
		}
	}
}

// transient reports whether an error of etcd or of the connection may pass.
func transient(err error) bool {
	if e, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return e.Code() == codes.Unavailable || e == rpctypes.ErrTooManyRequests || e == rpctypes.ErrInvalidAuthToken ||
			e == rpctypes.ErrAuthOldRevision
	}
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.Unavailable
}

// expired reports whether an error is a timeout, which gRPC can notice before the context.
func expired(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
}

// try is retry while the lease lives.
func (d *client) try(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, end := d.while(ctx)
	defer end()
	err := retry(ctx, do)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		d.lose(errLeaseGone)
		return errLeaseGone
	}
	return err
}

// while is a context that ends with ctx or with the client, whichever is first.
func (d *client) while(ctx context.Context) (context.Context, context.CancelFunc) {
	both, end := context.WithCancelCause(ctx)
	if d.ctx.Err() != nil {
		end(context.Cause(d.ctx)) // at once: AfterFunc runs in another goroutine
	}
	stop := context.AfterFunc(d.ctx, func() { end(context.Cause(d.ctx)) })
	return both, func() { stop(); end(nil) }
}
