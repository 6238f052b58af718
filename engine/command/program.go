package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/redact"
	"weir/workload/command"
)

// program is a running program of a role. What it prints goes to the log of its rank too.
type program struct {
	cmd   *exec.Cmd
	out   output
	errs  output       // standard error
	ready *atomic.Bool // a line has come that says so
	began time.Time
	took  time.Duration // once it has ended
	ended chan struct{}
	err   error // of waiting for it
}

// manner is what is done with what a program prints.
type manner struct {
	stamped bool   // lines of its log begin with their times
	parsed  bool   // its standard output is kept
	ready   string // an expression of a line that is looked for; "": none
}

// start starts a program in the process group of this process. It dies with the thread that
// started it, which lives until the program has ended.
func start(argv, env []string, how manner) (*program, error) {
	p := &program{ended: make(chan struct{})}
	log := &stamper{to: os.Stdout, stamped: how.stamped}
	p.out.next, p.errs.next = []func([]byte){log.write}, []func([]byte){log.write} // the log of the rank
	if how.parsed {
		p.out.most = mostOutput
	}
	var err error
	if p.ready, err = lookFor(how.ready, &p.out, &p.errs); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	// before it is kept, cut or looked at
	out, errs := redact.Hidden().Writer(&p.out), redact.Hidden().Writer(&p.errs)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, out, errs
	p.cmd.WaitDelay = time.Second // for output that something it started holds open
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.began = time.Now()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		_, _ = out.Flush(), errs.Flush() // an output takes everything
		p.took = time.Since(p.began)
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", argv[0], plain(err))
	}
	return p, nil
}

var errNotInstalled = errors.New("the program is not installed, or not in PATH")

// plain is an error of starting without the name of the program.
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

// status is how the program ended.
func (p *program) status() string {
	s := p.cmd.ProcessState
	if s == nil {
		return p.err.Error()
	}
	w, ok := s.Sys().(syscall.WaitStatus)
	if ok && w.Signaled() {
		return fmt.Sprintf("killed by signal %d (%s)", w.Signal(), unix.SignalName(w.Signal()))
	}
	return fmt.Sprintf("exit status %d", s.ExitCode())
}

// stdout is all of its standard output.
func (p *program) stdout() ([]byte, error) {
	text, whole := p.out.text()
	if !whole {
		return nil, fmt.Errorf("it printed more than %d MiB: have it print less, or write its result to a file that parse names",
			mostOutput>>20)
	}
	return text, nil
}

// said is what the program has printed last.
func (p *program) said() command.Said { return command.LastSaid(p.out.end(), p.errs.end()) }

// words adds what the program said last to an error, but to that of being stopped.
func (p *program) words(err error) error {
	said := p.said().String()
	if said == "" {
		said = "\nit printed nothing"
	}
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return fmt.Errorf("%w%s", err, said)
	}
	if e.Code == -int(unix.ECANCELED) {
		return e
	}
	with := *e
	with.Text += said
	return &with
}

// finish tells the program to end, and ends it when that takes too long.
func (p *program) finish(by unix.Signal, within time.Duration) {
	if leads() {
		_ = unix.Kill(0, by) // this process hears it too
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

// leads says whether the process group is that of this rank alone, as an agent makes it.
func leads() bool { return unix.Getpgrp() == os.Getpid() }

// kill ends the program and all that it has started, if it stayed in this process group.
func (p *program) kill() {
	select {
	case <-p.ended:
	default:
		_ = p.cmd.Process.Kill()
	}
	if !leads() {
		return
	}
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // only a bad pattern is an error
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		if pid, group := groupOf(string(text)); group == os.Getpid() && pid != group {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// groupOf reads the numbers of a process and of its group from its stat, proc(5). The name
// between them may hold anything but is in parentheses.
func groupOf(stat string) (pid, group int) {
	first, _, _ := strings.Cut(stat, " ")
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0, 0
	}
	pid, _ = strconv.Atoi(first)
	group, _ = strconv.Atoi(fields[2])
	return pid, group
}
