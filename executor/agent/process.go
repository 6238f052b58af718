package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/executor/wire"
)

// event is something that a rank process did: it said something, said something
// that is no message, or ended.
type event struct {
	from  *process
	frame *wire.Frame
	err   error
	exit  *os.ProcessState
}

// process is a rank process with the ends of what it shares with the agent.
type process struct {
	pid     int     // 0: it is a goroutine of this process
	inside  *within // such a goroutine's; nil: it is a process
	cmd     *exec.Cmd
	conn    *net.UnixConn
	page    []byte
	control *engine.Control
	log     *logFile  // nil: it is a goroutine
	kept    io.Closer // of the output
	bounds  *bounds   // nil: none
	starved int       // how many had been killed for want of memory when it began
	outbox  chan outgoing
	emit    func(event)
	read    chan struct{} // closed when no message will come any more
}

type outgoing struct {
	kind wire.Kind
	body [][]byte // in pieces
}

// startProcess starts a rank. Its output goes straight into the log file, because
// passing it on costs the measurement processor time; only where the session has
// secrets it must go through this process. It stays on some processors, if any are given.
func startProcess(s *spawner, as privileges, cpus []int, argv, env []string, out io.WriteCloser,
	emit func(event)) (*process, error) {
	p := &process{emit: emit, outbox: make(chan outgoing, 3), read: make(chan struct{}), kept: out}
	theirs, err := p.share()
	defer closeAll(theirs)
	if err != nil {
		out.Close()
		p.release()
		return nil, err
	}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = env
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.WaitDelay = time.Second // for pipes that something outside of the group holds open
	p.cmd.ExtraFiles = theirs     // from descriptor 3 on, as package rank expects
	if err := s.start(p.cmd, as, cpus...); err != nil {
		out.Close()
		p.release()
		return nil, err
	}
	p.pid, p.bounds, p.starved = p.cmd.Process.Pid, &s.bounds, s.bounds.starved()
	go p.receive()
	go p.send()
	go p.wait()
	return p, nil
}

// share makes what both sides have: the socket pair and the control page. It
// gives the rank's ends, which are closed here once it has them.
func (p *process) share() (theirs []*os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket pair: %w", err)
	}
	ours := os.NewFile(uintptr(pair[0]), "rank")
	defer ours.Close() // FileConn duplicates it
	theirs = append(theirs, os.NewFile(uintptr(pair[1]), "agent"))
	conn, err := net.FileConn(ours)
	if err != nil {
		return theirs, fmt.Errorf("making a socket pair: %w", err)
	}
	p.conn = conn.(*net.UnixConn)
	fd, err := unix.MemfdCreate("weir-control", unix.MFD_CLOEXEC)
	if err != nil {
		return theirs, fmt.Errorf("making a control page: %w", err)
	}
	theirs = append(theirs, os.NewFile(uintptr(fd), "control"))
	if err := unix.Ftruncate(fd, engine.ControlSize); err != nil {
		return theirs, fmt.Errorf("making a control page: %w", err)
	}
	p.page, err = unix.Mmap(fd, 0, engine.ControlSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return theirs, fmt.Errorf("mapping a control page: %w", err)
	}
	p.control = engine.ControlAt(p.page)
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// release gives back what the process had, once it has ended.
func (p *process) release() {
	close(p.outbox)
	if p.conn != nil {
		p.conn.Close()
	}
	if p.page != nil {
		_ = unix.Munmap(p.page) // cannot fail for what Mmap gave
		p.page, p.control = nil, nil
	}
}

// stopTelling says that nothing more will be told: a rank that waits for a message reads no
// control page.
func (p *process) stopTelling() {
	if p.inside != nil {
		p.inside.stopTelling()
		return
	}
	_ = p.conn.CloseWrite() // of one that is gone it says nothing new
}

// tell queues a message. The queue holds all that a rank is ever told, so this
// does not wait for a rank that does not listen.
func (p *process) tell(kind wire.Kind, body ...[]byte) { p.outbox <- outgoing{kind, body} }

func (p *process) send() {
	broken := false
	for m := range p.outbox {
		if !broken && wire.Write(p.conn, m.kind, m.body...) != nil {
			broken = true // the rank is gone; its end will say why
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

// wait waits for the end of the process. The group is killed before the process
// is reaped: until then its number cannot be another's.
func (p *process) wait() {
	for unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	killGroup(p.pid)
	_ = p.cmd.Wait()   // ProcessState says more than its error
	_ = p.kept.Close() // a log that is cut short is all that can come of it
	select {           // what it said before it ended comes first
	case <-p.read:
	case <-time.After(time.Second): // something outside of the group holds the rank's end open
		_ = p.conn.CloseRead() // what is in the socket can still be read; closing would lose it
		<-p.read
	}
	p.emit(event{from: p, exit: p.cmd.ProcessState})
}

// kill ends it with all that it has started.
func (p *process) kill() {
	if p.inside != nil {
		p.inside.leave()
		return
	}
	killGroup(p.pid)
}

// state is the kernel's letter for what the process is doing, 0 if it is gone.
func (p *process) state() byte {
	if p.inside != nil {
		return 'S'
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/stat")
	if err != nil {
		return 0
	}
	// the name before it may hold anything but is in parentheses
	text := string(b)
	if i := strings.LastIndexByte(text, ')'); i >= 0 && i+2 < len(text) {
		return text[i+2]
	}
	return 0
}

// dead says whether a state is that of a process that has ended, whether or not it
// was waited for.
func dead(state byte) bool { return state == 'Z' || state == 'X' || state == 0 }
