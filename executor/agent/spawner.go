package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/executor/host/confine"
	"github.com/weir-bench/weir/internal/child"
)

// spawner starts processes from threads that live as long as the agent: the kernel sends the parent death signal
// when the *thread* that started a process ends. Ranks of the engine are started by a thread without privileges,
// commands of scenarios by another one. The threads start with the first process.
type spawner struct {
	begin    sync.Once
	engine   chan func() // run by the thread without privileges
	commands chan func()
	done     sync.WaitGroup
	limits   cgroup.Limits
	user     *confine.User
	refusal  error  // of the confined thread: it starts nothing
	applied  limits // from begin on
	guard    guard  // from the first command on
}

func newSpawner(l cgroup.Limits, u *confine.User) *spawner {
	return &spawner{engine: make(chan func()), commands: make(chan func()), limits: l, user: u}
}

func (s *spawner) startThreads() {
	s.applied = newLimits(s.limits)
	confined := make(chan struct{})
	s.done.Go(func() {
		runtime.LockOSThread() // without unlock: the thread ends with this goroutine
		s.refusal = confine.Thread()
		close(confined)
		for f := range s.engine {
			f()
		}
	})
	<-confined
	s.done.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for f := range s.commands {
			f()
		}
	})
}

func (s *spawner) close() error {
	s.begin.Do(func() {})
	close(s.engine)
	close(s.commands)
	s.done.Wait()
	return errors.Join(s.applied.close(), s.guard.close())
}

// start starts a command in its own process group, within the agent's limits; it is killed when the agent ends. With
// cpus, all its threads run on these processors: they inherit the mask of the starting thread.
func (s *spawner) start(cmd *exec.Cmd, as privileges, cpus ...int) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.DieWithThread(cmd.SysProcAttr)
	result := make(chan error, 1)
	s.begin.Do(s.startThreads)
	s.applied.joinGroup(cmd.SysProcAttr)
	s.user.Starts(cmd.SysProcAttr)
	work := s.commands
	if as == forRanks {
		if work = s.engine; s.refusal != nil {
			return s.refusal
		}
	} else {
		s.guard.start()
	}
	work <- func() { result <- onProcessors(cpus, cmd.Start) }
	err := <-result
	if err == nil {
		s.applied.apply(cmd)
	}
	return err
}

// privileges are the privileges of a process.
type privileges int

const (
	forRanks    privileges = iota // those that the engine may need
	forCommands                   // all of the user's
)

func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }

// capture keeps the beginning of a command's output and counts its bytes. The buffer is not embedded, because
// its ReadFrom would bypass Write.
type capture struct {
	kept    bytes.Buffer
	most    int // bytes
	written int64
}

const maxCapture = 1 << 20

func (c *capture) Write(p []byte) (int, error) {
	c.written += int64(len(p))
	c.kept.Write(p[:max(0, min(len(p), c.most-c.kept.Len()))])
	return len(p), nil
}

// run runs a command, and kills its process group when ctx ends or limit has passed. Processes that it leaves behind
// may hold its output open.
func (s *spawner) run(ctx context.Context, limit time.Duration, as privileges, argv, env []string, stdout,
	stderr io.Writer) error {
	err := s.runOpen(ctx, limit, as, argv, env, stdout, stderr)
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// runOpen is run that returns exec.ErrWaitDelay if the output was still open after the command's end.
func (s *spawner) runOpen(ctx context.Context, limit time.Duration, as privileges, argv, env []string, stdout,
	stderr io.Writer) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(bounded, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, stdout, stderr
	cmd.Cancel = func() error { killGroup(cmd.Process.Pid); return nil }
	cmd.WaitDelay = time.Second
	err := s.start(cmd, as)
	if err == nil {
		err = cmd.Wait()
	}
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return err
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("program %s not found in PATH of this node", argv[0])
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case bounded.Err() != nil:
		return fmt.Errorf("did not end within %v", limit)
	}
	return err
}

// output runs a command and returns its output. The error has the last line of the command's output.
func (s *spawner) output(ctx context.Context, limit time.Duration, as privileges, argv, env []string) ([]byte,
	error) {
	stdout, stderr := capture{most: maxCapture}, capture{most: maxCapture}
	err := s.run(ctx, limit, as, argv, env, &stdout, &stderr)
	if err == nil {
		return stdout.kept.Bytes(), nil
	}
	for _, out := range []*capture{&stderr, &stdout} {
		if lines := lastLines(out.kept.Bytes(), 1); len(lines) > 0 {
			return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(lines[0]))
		}
	}
	return nil, err
}
