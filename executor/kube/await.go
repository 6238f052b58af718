package kube

import (
	"context"
	"errors"
	"time"
)

// TooLong is the error of a wait that reached its time limit.
type TooLong struct{ Missing string }

func (e *TooLong) Error() string { return "waited long enough for " + e.Missing }

// mostFailures is the number of consecutive transient errors that are tolerated.
const mostFailures = 5

var errTooLong = errors.New("waited long enough")

// Await polls until nothing is missing, and calls tell whenever the missing objects change. A transient
// error may pass; another error ends the wait.
func Await(ctx context.Context, every, within time.Duration, tell func(missing string),
	poll func(context.Context) (missing string, transient, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errTooLong)
	defer cancel()
	last, failures := "", 0
	for {
		missing, transient, err := poll(ctx)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
		case transient != nil && failures == mostFailures:
			return transient
		case transient != nil:
			failures++
		case missing == "":
			return nil
		default:
			if failures = 0; missing != last {
				tell(missing)
				last = missing
			}
		}
		select {
		case <-ctx.Done():
			if context.Cause(ctx) == errTooLong {
				return &TooLong{last}
			}
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
}
