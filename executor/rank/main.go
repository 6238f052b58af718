// Package rank is a rank process: it receives a launch over a socket pair, opens the launch's runner, connects to
// the other ranks through its agent, runs the cases and exits. With a quiet runner it has no other goroutines
// and no garbage collection meanwhile, because they would disturb measurements.
package rank

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/host/scratch"
	"github.com/weir-bench/weir/executor/wire"
	"github.com/weir-bench/weir/internal/redact"
)

// File descriptors that a rank inherits from its agent.
const (
	SocketFD  = 3
	ControlFD = 4
)

// Main runs a rank process and returns its exit status.
func Main() int {
	scratch.ForgetProcess(os.Getpid()) // files of an earlier process with this pid
	conn, control, err := inherit()
	if err != nil {
		fmt.Fprintf(os.Stderr, "weir rank: %v; it is started by weir itself, not by hand\n", err)
		return 4
	}
	if err := run(conn, control); err != nil {
		failure := engineError(err, control)
		failure.Text = redact.Hidden().Text(failure.Text)
		what, _, _ := strings.Cut(redact.Hidden().Text(err.Error()), "\n") // more lines are from this log
		fmt.Fprintf(os.Stderr, "weir rank: %s\n", what)
		// without clean-up, in which a failed library may hang
		_ = conn.Send(wire.KindFailure, wire.EncodeFailure(failure))
		return 1
	}
	return 0
}

// inherit opens the inherited descriptors, and closes them on exec for processes that libraries start.
func inherit() (wire.Conn, *engine.Control, error) {
	for _, fd := range []int{SocketFD, ControlFD} {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return nil, nil, fmt.Errorf("file descriptor %d: %w", fd, err)
		}
		unix.CloseOnExec(fd)
	}
	page, err := unix.Mmap(ControlFD, 0, engine.ControlSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping the control page: %w", err)
	}
	return wire.Over(os.NewFile(SocketFD, "agent")), engine.ControlAt(page), nil
}

// engineError converts an error for the agent.
func engineError(err error, control *engine.Control) *engine.Error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	return &engine.Error{Phase: engine.PhaseName(control.Phase.Load()), Peer: -1, Text: err.Error()}
}

func run(conn wire.Conn, control *engine.Control) error {
	l, err := receiveLaunch(conn)
	if err != nil {
		return err
	}
	redact.Hide(l.Hidden)
	runner, err := engine.RunnerOf(l.Launch.Runner)
	if err != nil {
		return err
	}
	between := func() {}
	if _, quiet := runner.(engine.Quiet); quiet {
		debug.SetGCPercent(-1)
		between = collectGarbage
	}
	return runLaunch(conn, control, runner, l, wire.DecodePeers, between)
}

// runLaunch runs a rank's launch; it calls between after each case.
func runLaunch(conn wire.Conn, control *engine.Control, e engine.Runner, l wire.Launch, peers decoder,
	between func()) error {
	control.Phase.Store(engine.PhaseReady)
	r, err := e.Open(l.Launch, l.Self, control)
	if err != nil {
		return err
	}
	nodes := l.Launch.Nodes
	l.Launch.Nodes = nil // it may be long, and cases do not need it
	if err := connect(conn, control, r, l.Launch.Ranks, peers); err != nil {
		return namePeer(err, l.Self.Rank, nodes)
	}
	cases := l.Launch.Cases
	if life := l.Self.Life; life != nil {
		cases = cases[life.First : life.Last+1]
	}
	for _, c := range cases {
		if err := runCase(conn, r, c, l); err != nil {
			return err
		}
		between()
	}
	control.Phase.Store(engine.PhaseTeardown)
	if err := r.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	return conn.Send(wire.KindBye)
}

// namePeer adds to an error of connecting the node of the peer, if it is not the rank's own.
func namePeer(err error, self int, nodes []string) error {
	e, ok := errors.AsType[*engine.Error](err)
	if ok && e.Peer >= 0 && e.Peer < len(nodes) && self < len(nodes) && nodes[e.Peer] != nodes[self] {
		e.PeerNode = nodes[e.Peer]
	}
	return err
}

// receiveLaunch receives the rank's launch, and frees the memory of a long text before garbage collection is off.
func receiveLaunch(conn wire.Conn) (wire.Launch, error) {
	body, err := receive(conn, wire.KindLaunch)
	if err != nil {
		return wire.Launch{}, err
	}
	l, err := wire.DecodeSelf(body)
	const long = 1 << 20
	if len(body) > long {
		body = nil
		debug.FreeOSMemory()
	}
	return l, err
}

// decoder decodes the addresses of all ranks.
type decoder func(body []byte, ranks int) ([][]byte, error)

// connect connects the rank to its peers, if it has any, and waits until all ranks are connected.
func connect(conn wire.Conn, control *engine.Control, r engine.Rank, ranks int, decode decoder) error {
	p, connects := r.(engine.Peers)
	var address []byte
	var err error
	if connects {
		if address, err = p.Address(); err != nil {
			return err
		}
	}
	if err := conn.Send(wire.KindAddress, address); err != nil {
		return fmt.Errorf("sending the address: %w", err)
	}
	body, err := receive(conn, wire.KindPeers)
	if err != nil {
		return err
	}
	peers, err := decode(body, ranks)
	if err != nil {
		return err
	}
	control.Phase.Store(engine.PhaseConnect)
	if connects {
		if err := p.Connect(peers); err != nil {
			return err
		}
	}
	if err := conn.Send(wire.KindConnected); err != nil {
		return fmt.Errorf("reporting the connection: %w", err)
	}
	_, err = receive(conn, wire.KindGo)
	return err
}

func runCase(conn wire.Conn, r engine.Rank, c engine.Case, l wire.Launch) error {
	res, failed := r.Run(c)
	if failed != nil && (res == nil || !res.Unfinished) {
		return failed
	}
	res.Key, res.Rank = c.Key, l.Self.Rank
	body, err := wire.EncodeResult(res)
	if err != nil {
		return cmp.Or(failed, err)
	}
	if err := conn.Send(wire.KindResult, body); err != nil {
		return cmp.Or(failed, fmt.Errorf("sending the result of %s: %w", c.Key, err))
	}
	return failed
}

// heapLimit is the heap size in bytes above which a rank collects garbage, between two cases.
const heapLimit = 128 << 20

func collectGarbage() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Kind() == metrics.KindUint64 && heap[0].Value.Uint64() > heapLimit {
		runtime.GC()
	}
}

func receive(conn wire.Conn, kind wire.Kind) ([]byte, error) {
	f, err := conn.Receive()
	if errors.Is(err, io.EOF) { // the agent ends, or stops the launch
		return nil, &engine.Error{
			Peer: -1, Code: -int(unix.ECANCELED),
			Text: fmt.Sprintf("stopped while it waited for the agent's %s", kind),
		}
	}
	if err != nil {
		return nil, fmt.Errorf("waiting for the agent's %s: %w", kind, err)
	}
	if f.Kind != kind {
		return nil, fmt.Errorf("the agent sent %s instead of %s", f.Kind, kind)
	}
	return f.Body, nil
}
