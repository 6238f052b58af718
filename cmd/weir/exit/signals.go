package exit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/gate"
)

// Abort is the cause of a context that was cancelled by a signal or the total timeout.
type Abort struct {
	code int
	text string
}

func (a *Abort) Error() string { return a.text }

// ExitCode is the exit code that the executor puts into the result document.
func (a *Abort) ExitCode() int { return a.code }

var (
	interrupted = &Abort{gate.ExitInterrupted, "interrupted (SIGINT)"}
	terminated  = &Abort{gate.ExitTerminated, "terminated (SIGTERM)"}
	hungUp      = &Abort{gate.ExitTerminated, "terminated: the terminal is gone (SIGHUP)"}
)

var causes = map[os.Signal]*Abort{unix.SIGINT: interrupted, unix.SIGTERM: terminated, unix.SIGHUP: hungUp}

// SurvivePipes makes writes to a closed stdout or stderr fail instead of ending the process, so that the
// session still tears down and writes its documents. SIGPIPE is caught and not ignored, because child
// processes would inherit that.
func SurvivePipes() { signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) }

// echo is the time after the end of a context in which signals are not a second one: a parent that signals
// its child and then its process group, as timeout(1) does, sends one signal twice.
const echo = time.Second

// Abortable is a context that ends with the first signal, or after the total timeout if it is above 0.
// A second signal, at least the time of an echo later, closes kill: then neither ranks nor teardown commands
// are waited for, but processes are still killed and files removed. Further signals have their default action.
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
		var ended time.Time
		end := func(cause *Abort) {
			if ended.IsZero() {
				ended = time.Now()
			}
			cancel(cause) // the first cause stays
		}
		for killed := false; !killed; {
			select {
			case s := <-signals:
				if killed = !ended.IsZero() && time.Since(ended) >= echo; killed {
					close(second)
				}
				end(causes[s])
			case <-late:
				end(&Abort{gate.ExitTimeout, fmt.Sprintf("the total timeout of %s passed", timeout)})
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

// Interruptible runs a function that only reads and computes. The first signal ends it, with the exit
// code of the signal.
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
	o := outcome{err: With(gate.ExitInternal, errors.New("the command ended without a result"))}
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
