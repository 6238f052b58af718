package exit

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

// Abort is the cause of a context that ends a session from outside.
type Abort struct {
	code int
	text string
}

func (a *Abort) Error() string { return a.text }

// ExitCode is what the executor puts into the document.
func (a *Abort) ExitCode() int { return a.code }

var (
	interrupted = &Abort{gate.ExitInterrupted, "interrupted (SIGINT)"}
	terminated  = &Abort{gate.ExitTerminated, "terminated (SIGTERM)"}
	hungUp      = &Abort{gate.ExitTerminated, "terminated: the terminal is gone (SIGHUP)"}
)

var causes = map[os.Signal]*Abort{unix.SIGINT: interrupted, unix.SIGTERM: terminated, unix.SIGHUP: hungUp}

// SurvivePipes lets a reader of stdout or stderr go away: writes to it then fail,
// and the session still tears down and writes its documents. The signal is taken
// and not ignored, because the processes of a session would inherit that.
func SurvivePipes() { signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) }

// Abortable is a context that ends with the first signal, or after the total
// timeout if there is one. A signal after that closes kill: nothing is waited for
// any more, neither ranks nor teardown commands, but processes are still killed
// and files removed, which takes a moment. After it, signals do what they do to
// any program.
func Abortable(parent context.Context, timeout time.Duration) (ctx context.Context, kill <-chan struct{}, stop func()) {
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
				cancel(&Abort{gate.ExitTimeout, fmt.Sprintf("the total timeout of %s passed", timeout)})
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

// Interruptible does what reads and computes only, and ends it at the first signal
// with that signal's exit code, whatever it was about to say.
func Interruptible(parent context.Context, do func() error) error {
	ctx, _, stop := Abortable(parent, 0)
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
	o := outcome{err: With(gate.ExitInternal, errors.New("it ended without an answer"))}
	select {
	case <-ctx.Done():
	case o = <-done:
	}
	if o.panicked != nil {
		panic(o.panicked)
	}
	if cause, ok := errors.AsType[*Abort](context.Cause(ctx)); ok {
		return With(cause.code, cause)
	}
	return o.err
}
