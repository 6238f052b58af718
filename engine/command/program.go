package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/workload"
)

// mostOutput bounds what is kept of an output for its parser.
const mostOutput = 16 << 20

// lastWords is how many lines of output an error has.
const lastWords = 10

// program is a running program of a role. What it prints goes to the log of its rank too.
type program struct {
	cmd   *exec.Cmd
	out   output
	both  output // standard output and error, as they came
	began time.Time
	took  time.Duration // once it has ended
	ended chan struct{}
	err   error // of waiting for it
}

// output keeps the beginning of what is printed and passes all of it on.
type output struct {
	mu     sync.Mutex
	kept   bytes.Buffer
	last   []byte // the end of what did not fit
	passed int
	next   []func([]byte)
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.passed += len(p)
	fits := min(len(p), mostOutput-o.kept.Len())
	o.kept.Write(p[:fits])
	if fits < len(p) {
		const most = 64 << 10
		o.last = append(o.last, p[fits:]...)
		o.last = append([]byte{}, o.last[max(0, len(o.last)-most):]...)
	}
	o.mu.Unlock()
	for _, pass := range o.next {
		pass(p)
	}
	return len(p), nil
}

func (o *output) text() (text []byte, whole bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.kept.Bytes()), o.passed == o.kept.Len()
}

// end is the end of what was printed.
func (o *output) end() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	const most = 64 << 10
	text := o.kept.Bytes()
	return append(bytes.Clone(text[max(0, len(text)-most):]), o.last...)
}

// start starts a program in the process group of this process. It dies with the thread that
// started it, which lives until the program has ended.
func start(argv, env []string, stamped bool) (*program, error) {
	p := &program{ended: make(chan struct{})}
	log := &stamper{to: os.Stdout, stamped: stamped}
	p.both.next = []func([]byte){log.write} // the log of the rank
	p.out.next = []func([]byte){func(b []byte) { _, _ = p.both.Write(b) }}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, &p.out, &p.both
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
		p.took = time.Since(p.began)
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", argv[0], plain(err))
	}
	return p, nil
}

// stamper writes to the log of a rank, with the time before each line where that is asked for.
type stamper struct {
	to      io.Writer
	stamped bool
	within  bool // of a line whose beginning is written
	mu      sync.Mutex
}

func (s *stamper) write(b []byte) {
	if !s.stamped {
		_, _ = s.to.Write(b)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []byte
	for line := range bytes.Lines(b) {
		if !s.within {
			out = time.Now().UTC().AppendFormat(out, workload.StampLayout+" ")
		}
		out = append(out, line...)
		s.within = line[len(line)-1] != '\n'
	}
	_, _ = s.to.Write(out)
}

// plain is an error of starting without the name of the program.
func plain(err error) error {
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
		return nil, fmt.Errorf("it printed more than %d MiB", mostOutput>>20)
	}
	return text, nil
}

// lines are all of its whole lines so far.
func (p *program) lines() []string {
	text, _ := p.both.text()
	end := bytes.LastIndexByte(text, '\n')
	if end < 0 {
		return nil
	}
	return strings.Split(string(text[:end]), "\n")
}

// words adds what the program said last to an error, but to that of being stopped.
func (p *program) words(err error) error {
	lines := strings.Split(strings.TrimRight(string(p.both.end()), "\n \t"), "\n")
	lines = lines[max(0, len(lines)-lastWords):]
	said := "\nit said last:\n" + strings.Join(lines, "\n")
	if len(lines) == 1 && lines[0] == "" {
		said = "; it printed nothing"
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
