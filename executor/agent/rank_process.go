package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/wire"
	"github.com/weir-bench/weir/internal/child"
	"github.com/weir-bench/weir/internal/socketpair"
)

// event is a message of a rank process, an invalid message, or its end.
type event struct {
	from  *process
	frame *wire.Frame
	err   error
	exit  *os.ProcessState
}

// process is a rank process with the agent's ends of what they share.
type process struct {
	pid            int            // 0: the rank is a goroutine
	inProcess      *inProcessConn // nil: the rank is a process
	cmd            *exec.Cmd
	conn           *net.UnixConn
	mapping        []byte
	control        *engine.Control
	log            *logFile  // nil: the rank is a goroutine
	output         io.Closer // the log, or the redaction before it
	limits         *limits   // nil: none
	oomKillsBefore int       // of the control group of the session, at the start of the process
	ownKillsBefore int       // of the control group of this process, likewise
	outbox         chan outgoing
	emit           func(event)
	read           chan struct{} // closed after the last message
}

type outgoing struct {
	kind wire.Kind
	body [][]byte // in pieces, as for wire.Write
}

// startProcess starts a rank, on the given processors if there are any. Its output goes directly into the log file,
// to save processor time, unless the session has secrets to redact.
func startProcess(s *spawner, as privileges, cpus []int, argv, env []string, out io.WriteCloser,
	emit func(event)) (*process, error) {
	p := &process{emit: emit, outbox: make(chan outgoing, 3), read: make(chan struct{}), output: out}
	theirs, err := p.share()
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if err != nil {
		out.Close()
		p.release()
		return nil, err
	}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = env
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.WaitDelay = time.Second // for pipes that processes of other groups hold open
	p.cmd.ExtraFiles = theirs     // from descriptor rank.SocketFD on
	p.ownKillsBefore = child.MemoryKills()
	if err := s.start(p.cmd, as, cpus...); err != nil {
		out.Close()
		p.release()
		return nil, err
	}
	p.pid, p.limits, p.oomKillsBefore = p.cmd.Process.Pid, &s.applied, s.applied.oomKills()
	go p.receive()
	go p.send()
	go p.wait()
	return p, nil
}

// share creates the socket pair and the control page. It returns the rank's ends, for the caller to close after the
// start.
func (p *process) share() (theirs []*os.File, err error) {
	conn, file, err := socketpair.New()
	if err != nil {
		return nil, err
	}
	p.conn, theirs = conn, append(theirs, file)
	page, err := memoryFile("weir-control")
	if err != nil {
		return theirs, fmt.Errorf("making a control page: %w", err)
	}
	theirs = append(theirs, page)
	if err := page.Truncate(engine.ControlSize); err != nil {
		return theirs, fmt.Errorf("making a control page: %w", err)
	}
	p.mapping, err = unix.Mmap(int(page.Fd()), 0, engine.ControlSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return theirs, fmt.Errorf("mapping a control page: %w", err)
	}
	p.control = engine.ControlAt(p.mapping)
	return theirs, nil
}

func (p *process) release() {
	close(p.outbox)
	if p.conn != nil {
		p.conn.Close()
	}
	if p.mapping != nil {
		_ = unix.Munmap(p.mapping) // cannot fail for what Mmap gave
		p.mapping, p.control = nil, nil
	}
}

// closeWrite ends the messages to a rank: a rank that waits for one does not read the control page.
func (p *process) closeWrite() {
	if p.inProcess != nil {
		p.inProcess.closeWrite()
		return
	}
	_ = p.conn.CloseWrite() // fails if the rank is gone
}

// queue queues a message without blocking: the queue is long enough for all messages of a launch.
func (p *process) queue(kind wire.Kind, body ...[]byte) { p.outbox <- outgoing{kind, body} }

func (p *process) send() {
	broken := false
	for m := range p.outbox {
		if !broken && wire.Write(p.conn, m.kind, m.body...) != nil {
			broken = true // the rank is gone
		}
	}
}

func (p *process) receive() {
	defer close(p.read)
	for {
		f, err := wire.Read(p.conn)
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, unix.ECONNRESET) {
			return
		}
		if err != nil {
			p.emit(event{from: p, err: err})
			return
		}
		p.emit(event{from: p, frame: &f})
	}
}

// wait waits for the end of the process. It kills the group before reaping the process, while the pid cannot be
// reused.
func (p *process) wait() {
	child.AwaitEnd(p.pid)
	killGroup(p.pid)
	_ = p.cmd.Wait()     // ProcessState has the result
	_ = p.output.Close() // on error the log is cut short
	select {             // its messages come before its exit
	case <-p.read:
	case <-time.After(time.Second): // a process of another group holds the rank's end open
		_ = p.conn.CloseRead() // unlike Close it keeps received data
		<-p.read
	}
	p.emit(event{from: p, exit: p.cmd.ProcessState})
}

func (p *process) kill() {
	if p.inProcess != nil {
		p.inProcess.closeRead()
		return
	}
	killGroup(p.pid)
}

// state is the state letter of the process in /proc/PID/stat; 0: it is gone.
func (p *process) state() byte {
	if p.inProcess != nil {
		return 'S'
	}
	s, _ := child.StatOf(p.pid)
	return s.State
}

// dead reports whether a state is that of an ended process, reaped or not.
func dead(state byte) bool { return state == 'Z' || state == 'X' || state == 0 }
