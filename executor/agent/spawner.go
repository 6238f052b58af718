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

	"weir/executor/cgroup"
	"weir/executor/confine"
	"weir/results"
)

// spawner starts processes from one thread that lives as long as the agent. The
// kernel sends a child's death signal when the *thread* that started it ends,
// and Go ends threads when it likes. There is none until there is something to start.
//
// spawner starts weir's own engine from another thread than a scenario's commands: the engine
// needs no privileges, and that thread has given them up.
type spawner struct {
	begin    sync.Once
	engine   chan func() // a confined thread
	commands chan func()
	done     sync.WaitGroup
	limits   cgroup.Limits
	user     *confine.User
	refusal  error  // of the confined thread: it starts nothing
	bounds   bounds // from begin on
	guard    guard  // from the first command on
}

func newSpawner(l cgroup.Limits, u *confine.User) *spawner {
	return &spawner{engine: make(chan func()), commands: make(chan func()), limits: l, user: u}
}

func (s *spawner) threads() {
	s.bounds = newBounds(s.limits)
	confined := make(chan struct{})
	s.done.Go(func() {
		runtime.LockOSThread() // and it ends with this goroutine: it is of no other use
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
	return errors.Join(s.bounds.close(), s.guard.close())
}

// start starts a command in a process group of its own that dies with the agent, within
// the agent's bounds. If
// processors are given it stays on them, with all threads that it will have: they inherit
// the mask of the thread that starts it.
func (s *spawner) start(cmd *exec.Cmd, as privileges, cpus ...int) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error, 1)
	s.begin.Do(s.threads)
	s.bounds.within(cmd.SysProcAttr)
	s.user.Starts(cmd.SysProcAttr)
	work := s.commands
	if as == ofRanks {
		if work = s.engine; s.refusal != nil {
			return s.refusal
		}
	} else {
		s.guard.start()
	}
	work <- func() { result <- onProcessors(cpus, cmd.Start) }
	err := <-result
	if err == nil {
		s.bounds.of(cmd)
	}
	return err
}

// privileges are those that a process may have.
type privileges int

const (
	ofRanks    privileges = iota // those that the engine may have use for
	ofCommands                   // all of the user's
)

// onProcessors does something while this thread is kept on some processors.
func onProcessors(cpus []int, do func() error) error {
	if len(cpus) == 0 {
		return do()
	}
	var all, some unix.CPUSet
	for _, c := range cpus {
		some.Set(c)
	}
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return fmt.Errorf("reading the processors of a thread: %w", err)
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return fmt.Errorf("keeping a rank on processors %s: %w", results.FormatCPUs(cpus), err)
	}
	// the mask of a moment ago: if it is none any more, the kernel has narrowed it itself
	defer unix.SchedSetaffinity(0, &all)
	return do()
}

// killGroup kills a process and all that it started.
func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) } // gone already is as good

// capture keeps the beginning of what a command writes, and counts all of it. Its buffer
// is a field of its own: as an embedded one it would be read into without Write.
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

// run runs a command to its end; when ctx ends, or limit has passed, it is killed
// with all that it started. Something that it leaves running may hold its output
// open, which is no failure of the command.
func (s *spawner) run(ctx context.Context, limit time.Duration, as privileges, argv, env []string, stdout,
	stderr io.Writer) error {
	err := s.runOpen(ctx, limit, as, argv, env, stdout, stderr)
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// runOpen is run, and says by exec.ErrWaitDelay that the output was still open when
// nobody waited for more of it.
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
		return fmt.Errorf("there is no program %s in PATH of this node", argv[0])
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case bounded.Err() != nil:
		return fmt.Errorf("did not end within %v", limit)
	}
	return err
}

// output runs a command and gives what it wrote. An error says what the command
// said last.
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
