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

	"weir/engine"
	"weir/placeholder"
	"weir/readiness"
	"weir/redact"
	"weir/workload/command"
)

// politely is how long a program that was told to end may take.
const politely = 5 * time.Second

// hastily is the same where the launch is stopped: an agent kills after a second.
const hastily = 500 * time.Millisecond

// later is how much later than the role that it waits for a role says that time is over.
const later = 150 * time.Millisecond

// ofTheOther is how long a program that failed may have ended before the role that it ends
// with, and counts as ended by that.
const ofTheOther = 500 * time.Millisecond

// play carries the role through and gives what it printed or wrote, if that is parsed.
func (r *rank) play(ctx context.Context, c engine.Case) (*program, []byte, error) {
	limit := time.Duration(c.Timeout)
	if r.role.Ends != command.EndsByItself {
		limit += later // of the others one is to blame
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
	r.ports.release() // the program, or one that it talks to, is to have them now
	if address, err := r.expand(r.role.Ready.Listens); err == nil && address != "" {
		r.listened = readiness.Listening(address)
	}
	p, err := start(argv, env, manner{
		stamped: r.spec.Serves != nil && r.spec.Serves.Stamped,
		parsed:  r.spec.Parsed(r.self) && r.spec.Parse.File == "",
		ready:   r.role.Ready.Log,
	})
	if err != nil {
		return nil, r.faultIn("start", err)
	}
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

// awaitEnd waits until the program has ended as its role is to end.
func (r *rank) awaitEnd(ctx context.Context, p *program) error {
	var told <-chan struct{} // when it is to end; nil: by itself
	others, stop := context.WithCancel(ctx)
	defer stop()
	gone := make(chan error, 1)
	if r.role.Ends != command.EndsByItself {
		over := make(chan struct{})
		told = over
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
		return r.endedFirst(p, told)
	case <-told:
		p.finish(unix.SIGTERM, politely)
		return nil
	case err := <-gone:
		if ctx.Err() == nil {
			return err
		}
	case <-ctx.Done():
	}
	p.finish(unix.SIGTERM, hastily)
	return context.Cause(ctx)
}

// endsIt says whether the end of another role is what this one waits for.
func (r *rank) endsIt(other int) bool {
	o := r.spec.Roles[other]
	if r.role.Ends == command.EndsWith {
		return o.Name == r.role.With
	}
	return o.Ends != command.EndsWhenTold
}

// endedFirst judges a program that ended before it was told to.
func (r *rank) endedFirst(p *program, told <-chan struct{}) error {
	switch {
	case r.role.Ends == command.EndsWhenTold:
		return fmt.Errorf("it ended before it was told to: %s", p.status())
	case p.cmd.ProcessState.Success():
		return nil
	case r.role.Ends == command.EndsWith && p.cmd.ProcessState.Exited():
		select {
		case <-told: // it failed because the other hung up
			return nil
		case <-time.After(ofTheOther):
		}
	}
	return errors.New(p.status())
}

// output is what is parsed of the role; nil: nothing is.
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
	text, err := io.ReadAll(io.LimitReader(f, mostOutput+1))
	if err == nil && len(text) > mostOutput {
		err = fmt.Errorf("%s has more than %d MiB", name, mostOutput>>20)
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
