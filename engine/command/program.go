package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/child"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/workload/command"
)

// program is a running program of a role. Its output also goes to the log of its rank.
type program struct {
	cmd   *exec.Cmd
	out   output
	errs  output       // standard error
	ready *atomic.Bool // the line of ready was printed
	began time.Time
	took  time.Duration // set after its end
	ended chan struct{}
	err   error // of Wait

	stopped     bool // this process has signalled or killed it
	memoryKills int  // of the kernel, before it started
}

// outputMode is the handling of a program's output.
type outputMode struct {
	stamped bool         // lines of its log begin with their times
	clock   steady.Clock // of these times
	parsed  bool         // keep its standard output
	ready   string       // expression of the line to search for; "": none
}

// start starts a program in the process group of this process, with which it dies.
func start(argv, env []string, how outputMode) (*program, error) {
	p := &program{ended: make(chan struct{})}
	log := &stamper{to: os.Stdout, stamped: how.stamped, clock: how.clock}
	p.out.next, p.errs.next = []func([]byte){log.write}, []func([]byte){log.write} // the log of the rank
	if how.parsed {
		p.out.most = maxOutput
	}
	var err error
	if p.ready, err = lookFor(how.ready, &p.out, &p.errs); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	// before it is kept, cut or searched
	out, errs := redact.Hidden().Writer(&p.out), redact.Hidden().Writer(&p.errs)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, out, errs
	p.cmd.WaitDelay = time.Second // for output that a child holds open
	p.began, p.memoryKills = time.Now(), child.MemoryKills()
	err = child.Start(p.cmd, func(err error) {
		p.err = err
		_, _ = out.Flush(), errs.Flush() // an output accepts everything
		p.took = time.Since(p.began)
		close(p.ended)
	})
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", argv[0], plain(err))
	}
	return p, nil
}

var errNotInstalled = errors.New("the program is not installed, or not in PATH")

// plain returns a start error without the name of the program.
func plain(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errNotInstalled
	}
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// status describes the end of the program.
func (p *program) status() string {
	s := p.cmd.ProcessState
	if s == nil {
		return p.err.Error()
	}
	w, ok := s.Sys().(syscall.WaitStatus)
	if ok && w.Signaled() {
		text := fmt.Sprintf("killed by signal %d (%s)", w.Signal(), unix.SignalName(w.Signal()))
		if w.Signal() == unix.SIGKILL && !p.stopped {
			text += child.MemoryKillsSince(p.memoryKills)
		}
		return text
	}
	return fmt.Sprintf("exit status %d", s.ExitCode())
}

// stdout returns its complete standard output.
func (p *program) stdout() ([]byte, error) {
	text, whole := p.out.text()
	if !whole {
		return nil, fmt.Errorf("it printed more than %d MiB: let it print less, or write its result to a file that parse names",
			maxOutput>>20)
	}
	return text, nil
}

// lastLines returns the program's last lines.
func (p *program) lastLines() command.LastLines {
	return command.TakeLastLines(p.out.end(), p.errs.end())
}

// hasEnded reports whether the program has ended, even before Wait.
func (p *program) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
	}
	return child.Ended(p.cmd.Process.Pid)
}

// fatal are signals that are causes of a failure. Others may be consequences: a program gets SIGPIPE, or aborts, after
// the end of its peer.
var fatal = []syscall.Signal{unix.SIGKILL, unix.SIGSEGV, unix.SIGBUS, unix.SIGILL, unix.SIGFPE, unix.SIGSYS}

// shellStatus is added to a signal in the exit status of a shell after it killed the shell's program.
const shellStatus = 128

// killed reports whether a fatal signal ended the program before it was stopped.
func (p *program) killed() bool {
	select {
	case <-p.ended:
	default:
		return false
	}
	if p.stopped || p.cmd.ProcessState == nil {
		return false
	}
	by := syscall.Signal(p.cmd.ProcessState.ExitCode() - shellStatus)
	if w, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		by = w.Signal()
	}
	return slices.Contains(fatal, by)
}

// words adds the program's last lines to an error, except for a stopped program. A program that was killed before it
// was stopped is an error of its own.
func (p *program) words(err error) error {
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Code == -int(unix.ECANCELED) && p.killed() {
		err = errors.New(p.status())
	}
	last := p.lastLines().String()
	if last == "" {
		last = "\nit printed nothing"
	}
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return fmt.Errorf("%w%s", err, last)
	}
	if e.Code == -int(unix.ECANCELED) {
		return e
	}
	with := *e
	with.Text += last
	return &with
}

// finish signals the program to end, and kills it after a time.
func (p *program) finish(by unix.Signal, within time.Duration) {
	p.stopped = !p.hasEnded()
	if leads() {
		_ = unix.Kill(0, by) // this process gets the signal too
	} else {
		_ = p.cmd.Process.Signal(by)
	}
	select {
	case <-p.ended:
	case <-time.After(within):
	}
	p.kill()
	<-p.ended
}

// leads reports whether the process group is that of this rank alone, as made by an agent.
func leads() bool { return unix.Getpgrp() == os.Getpid() }

// kill kills the program and its descendants in this process group.
func (p *program) kill() {
	if !p.hasEnded() {
		p.stopped = true
		_ = p.cmd.Process.Kill()
	}
	if !leads() {
		return
	}
	for _, s := range child.Processes() {
		if s.Group == os.Getpid() && s.PID != s.Group {
			_ = unix.Kill(s.PID, unix.SIGKILL)
		}
	}
}
