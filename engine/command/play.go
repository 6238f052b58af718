package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/readiness"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/workload/command"
)

// stopGrace is the time for a program to end after its stop signal.
const stopGrace = 5 * time.Second

// abortGrace is stopGrace for a stopped launch: an agent kills after a second.
const abortGrace = 500 * time.Millisecond

// waiterMargin is added to the timeout of a role that waits for another one, so that the other one's timeout is
// reported.
const waiterMargin = 150 * time.Millisecond

// peerFailureWindow is how long before the role that it ends with a program may fail, and still count as ended by that.
const peerFailureWindow = 500 * time.Millisecond

// play runs the role and returns its parsed output, if any.
func (r *rank) play(ctx context.Context, c engine.Case) (*program, []byte, error) {
	limit := time.Duration(c.Timeout)
	if r.role.Ends != command.EndsByItself {
		limit += waiterMargin // the other role is the cause
	}
	overdue := &engine.Error{Phase: "run", Peer: -1, Code: -int(unix.ETIMEDOUT),
		Text: fmt.Sprintf("role %s did not end within %v", r.role.Name, time.Duration(c.Timeout))}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, overdue)
	defer cancel()
	for i, other := range r.spec.Roles {
		if !slices.Contains(r.role.After, other.Name) {
			continue
		}
		if err := r.news.wait(ctx, i, isReady); err != nil {
			return nil, nil, err
		}
	}
	p, err := r.start()
	if err != nil {
		return nil, nil, err
	}
	defer p.kill()
	if err := r.awaitReady(ctx, p); err != nil {
		p.finish(unix.SIGTERM, abortGrace)
		return nil, nil, p.words(err)
	}
	r.news.tell(isReady)
	if err := r.awaitEnd(ctx, p); err != nil {
		return nil, nil, p.words(err)
	}
	r.news.tell(hasEnded)
	output, err := r.output(p)
	if err != nil {
		return nil, nil, p.words(err)
	}
	return p, output, nil
}

func (r *rank) start() (*program, error) {
	argv, err := r.expandAll(r.role.Command)
	if err != nil {
		return nil, err
	}
	env, err := r.environment()
	if err != nil {
		return nil, err
	}
	r.guard = guard()
	r.ports.release() // for the program and its peers
	if address, err := r.expand(r.role.Ready.Listens); err == nil && address != "" {
		r.listened = readiness.Listening(address)
	}
	p, err := start(argv, env, outputMode{
		stamped: r.spec.Serves != nil && r.spec.Serves.Stamped,
		clock:   r.clock,
		parsed:  r.spec.Parsed(r.self) && r.spec.Parse.File == "",
		ready:   r.role.Ready.Log,
	})
	if err != nil {
		return nil, r.faultIn("start", err)
	}
	r.program = p
	return p, nil
}

// awaitReady waits until the role is ready.
func (r *rank) awaitReady(ctx context.Context, p *program) error {
	want := r.role.Ready
	if want.Empty() {
		return nil
	}
	check := readiness.Check{Log: want.Log, Within: want.Within}
	var err error
	for _, f := range []struct {
		to   *string
		text string
	}{
		{&check.Listens, want.Listens}, {&check.HTTP, want.HTTP}, {&check.Contains, want.Contains},
		{&check.File, want.File},
	} {
		if *f.to, err = r.expand(f.text); err != nil {
			return err
		}
	}
	if strings.HasPrefix(check.HTTP, "/") { // below the url of the service
		url, err := r.own("url")
		if err != nil {
			return err
		}
		check.HTTP = url + check.HTTP
	}
	if check.Etcd, err = r.expand(want.Etcd); err != nil {
		return err
	}
	if check.Command, err = r.expandAll(want.Command); err != nil {
		return err
	}
	subject := readiness.Subject{
		PID: p.cmd.Process.Pid, Ended: p.ended, Status: p.status, Logged: p.ready.Load,
		Listened: r.listened,
		HasKey:   hasKey,
		Run:      func(ctx context.Context, argv []string) error { return runQuietly(ctx, argv, p.cmd.Env) },
	}
	err = check.Wait(ctx, subject)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("it did not become ready: %w", err)
}

// awaitEnd waits until the program has ended as its role specifies.
func (r *rank) awaitEnd(ctx context.Context, p *program) error {
	var mustEnd <-chan struct{} // closed when it must end; nil: it ends by itself
	others, stop := context.WithCancel(ctx)
	defer stop()
	gone := make(chan error, 1)
	if r.role.Ends != command.EndsByItself {
		over := make(chan struct{})
		mustEnd = over
		go func() {
			if err := r.news.waitAll(others, r.endsIt, hasEnded); err != nil {
				gone <- err
				return
			}
			close(over)
		}()
	}
	select {
	case <-p.ended:
		before := r.news.failed(func(int) bool { return true })
		if !p.cmd.ProcessState.Success() {
			r.news.tell(hasFailed)
		}
		err := r.endedFirst(p, mustEnd)
		if err == nil || before < 0 || p.killed() {
			return err
		}
		// what fails later fails because of that: connections close
		return &engine.Error{Phase: "run", Peer: before, Code: -int(unix.ECONNRESET),
			Text: fmt.Sprintf("%v, after role %s had failed", err, r.spec.Roles[before].Name)}
	case <-mustEnd:
		p.finish(unix.SIGTERM, stopGrace)
		return nil
	case err := <-gone:
		if ctx.Err() == nil {
			return err
		}
	case <-ctx.Done():
	}
	p.finish(unix.SIGTERM, abortGrace)
	return context.Cause(ctx)
}

// endsIt reports whether this role ends with another one.
func (r *rank) endsIt(other int) bool {
	o := r.spec.Roles[other]
	if with, ok := r.role.Ends.With(); ok {
		return o.Name == with
	}
	return o.Ends != command.EndsWhenTold
}

// endedFirst judges a program that ended before it had to.
func (r *rank) endedFirst(p *program, mustEnd <-chan struct{}) error {
	_, endsWith := r.role.Ends.With()
	switch {
	case r.role.Ends == command.EndsWhenTold:
		return fmt.Errorf("it ended before it was told to: %s", p.status())
	case p.cmd.ProcessState.Success():
		return nil
	case endsWith && p.cmd.ProcessState.Exited():
		if r.news.failed(r.endsIt) >= 0 {
			return nil // before it: the other one is the cause
		}
		ctx, cancel := context.WithTimeout(context.Background(), peerFailureWindow)
		defer cancel()
		late := make(chan struct{}) // it is the cause, or nobody knows
		go func() {
			defer close(late)
			_ = r.news.waitFailed(ctx, r.endsIt) // an error is the end of the time
		}()
		select {
		case <-mustEnd: // it failed because the other one closed the connection
			return nil
		case <-late:
		}
	}
	return errors.New(p.status())
}

// output returns the parsed output of the role; nil: none.
func (r *rank) output(p *program) ([]byte, error) {
	switch {
	case !r.spec.Parsed(r.self):
		return nil, nil
	case r.spec.Parse.File == "":
		return p.stdout()
	}
	name, err := r.expand(r.spec.Parse.File)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the file with its result: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOutput+1))
	if err == nil && len(text) > maxOutput {
		err = fmt.Errorf("%s has more than %d MiB", name, maxOutput>>20)
	}
	return []byte(redact.Hidden().Text(string(text))), err
}

// runQuietly runs the command of a readiness check.
func runQuietly(ctx context.Context, argv, env []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

func (r *rank) expandAll(texts []string) ([]string, error) {
	var all []string
	for _, text := range texts {
		value, err := r.expand(text)
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, nil
}

func (r *rank) expand(text string) (string, error) { return placeholder.Expand(text, r.value) }
