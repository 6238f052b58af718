package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"weir/gate"
)

// abort is the cause of a context that ends a session from outside.
type abort struct {
	code int
	text string
}

func (a *abort) Error() string { return a.text }

// ExitCode is what the executor puts into the document.
func (a *abort) ExitCode() int { return a.code }

var (
	interrupted = &abort{gate.ExitInterrupted, "interrupted (SIGINT)"}
	terminated  = &abort{gate.ExitTerminated, "terminated (SIGTERM)"}
	hungUp      = &abort{gate.ExitTerminated, "terminated: the terminal is gone (SIGHUP)"}
)

var causes = map[os.Signal]*abort{unix.SIGINT: interrupted, unix.SIGTERM: terminated, unix.SIGHUP: hungUp}

// survivePipes lets a reader of stdout or stderr go away: writes to it then fail,
// and the session still tears down and writes its documents. The signal is taken
// and not ignored, because the processes of a session would inherit that.
func survivePipes() { signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) }

// abortable is a context that ends with the first signal, or after the total
// timeout if there is one. A signal after that closes kill: nothing is waited for
// any more, neither ranks nor teardown commands, but processes are still killed
// and files removed, which takes a moment. After it, signals do what they do to
// any program.
func abortable(parent context.Context, timeout time.Duration) (ctx context.Context, kill <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	var late <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	done, second := make(chan struct{}), make(chan struct{})
	go func() {
		for killed := false; !killed; {
			select {
			case s := <-signals:
				if killed = ctx.Err() != nil; killed {
					close(second)
				}
				cancel(causes[s]) // the first cause stays
			case <-late:
				cancel(&abort{gate.ExitTimeout, fmt.Sprintf("the total timeout of %s passed", timeout)})
			case <-done:
				return
			}
		}
		signal.Stop(signals)
	}()
	return ctx, second, func() {
		close(done)
		signal.Stop(signals)
		cancel(nil)
	}
}

// interruptible does what reads and computes only, and ends it at the first signal
// with that signal's exit code, whatever it was about to say.
func interruptible(parent context.Context, do func() error) error {
	ctx, _, stop := abortable(parent, 0)
	defer stop()
	type outcome struct {
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover() // Go's own handling exits with 2
			done <- o
		}()
		o.err = do()
	}()
	o := outcome{err: withCode(gate.ExitInternal, errors.New("it ended without an answer"))}
	select {
	case <-ctx.Done():
	case o = <-done:
	}
	if o.panicked != nil {
		panic(o.panicked)
	}
	if cause, ok := errors.AsType[*abort](context.Cause(ctx)); ok {
		return withCode(cause.code, cause)
	}
	return o.err
}
