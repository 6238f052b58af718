// Package rank is the whole of a rank process: it is told a launch over a socket
// pair, opens the launch's runner, meets the others through its agent, runs the cases
// and leaves. With a quiet runner nothing else runs between those steps: no second
// goroutine and no garbage collection, because they would be measured too.
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

	"weir/engine"
	"weir/executor/scratch"
	"weir/executor/wire"
	"weir/redact"
)

// The file descriptors that an agent gives to a rank.
const (
	SocketFD  = 3
	ControlFD = 4
)

// Main is the rank process; the value is its exit status.
func Main() int {
	scratch.ForgetProcess(os.Getpid()) // of one that had this number before
	conn, control, err := inherit()
	if err != nil {
		fmt.Fprintf(os.Stderr, "weir rank: %v; it is started by weir itself, not by hand\n", err)
		return 4
	}
	if err := run(conn, control); err != nil {
		failure := structured(err, control)
		failure.Text = redact.Hidden().Text(failure.Text)
		what, _, _ := strings.Cut(redact.Hidden().Text(err.Error()), "\n") // what follows is the end of this log
		fmt.Fprintf(os.Stderr, "weir rank: %s\n", what)
		// no more clean-up than that: a library that failed may hang in it
		_ = conn.Send(wire.KindFailure, wire.EncodeFailure(failure))
		return 1
	}
	return 0
}

// inherit takes over what the agent left open for this process, and keeps it
// from whatever a library may start.
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

// structured gives an error the form in which agents take it. An engine's own
// errors have it already.
func structured(err error, control *engine.Control) *engine.Error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	return &engine.Error{Phase: engine.PhaseName(control.Phase.Load()), Peer: -1, Text: err.Error()}
}

func run(conn wire.Conn, control *engine.Control) error {
	l, err := told(conn)
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
		between = collect
	}
	return carry(conn, control, runner, l, wire.DecodePeers, between)
}

// carry takes a rank through its launch; between has the time between two cases.
func carry(conn wire.Conn, control *engine.Control, e engine.Runner, l wire.Launch, peers decoder,
	between func()) error {
	control.Phase.Store(engine.PhaseReady)
	r, err := e.Open(l.Launch, l.Self, control)
	if err != nil {
		return err
	}
	l.Launch.Nodes = nil // of thousands of ranks it is long, and the engine has it
	if err := meet(conn, control, r, l.Launch.Ranks, peers); err != nil {
		return err
	}
	for _, c := range casesOf(l) {
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

// casesOf are the cases that this process runs.
func casesOf(l wire.Launch) []engine.Case {
	if life := l.Self.Life; life != nil {
		return l.Launch.Cases[life.First : life.Last+1]
	}
	return l.Launch.Cases
}

// told reads what the rank is to do. What is left of a long text goes back to the
// host, which has many ranks, before nothing is collected any more.
func told(conn wire.Conn) (wire.Launch, error) {
	body, err := expect(conn, wire.KindLaunch)
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

// decoder reads all ranks' addresses.
type decoder func(body []byte, ranks int) ([][]byte, error)

// meet connects the rank to all others, if it has peers, and waits until all are ready.
func meet(conn wire.Conn, control *engine.Control, r engine.Rank, ranks int, decode decoder) error {
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
	body, err := expect(conn, wire.KindPeers)
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
		return fmt.Errorf("saying that it is connected: %w", err)
	}
	_, err = expect(conn, wire.KindGo)
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

// heapLimit is the garbage that a rank may pile up before it collects it, which
// it does between two cases only.
const heapLimit = 128 << 20

func collect() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Kind() == metrics.KindUint64 && heap[0].Value.Uint64() > heapLimit {
		runtime.GC()
	}
}

func expect(conn wire.Conn, kind wire.Kind) ([]byte, error) {
	f, err := conn.Receive()
	if errors.Is(err, io.EOF) { // the agent ends, or has the launch ended: no fault of this rank
		return nil, &engine.Error{
			Peer: -1, Code: -int(unix.ECANCELED),
			Text: fmt.Sprintf("told to stop while it waited for the agent's %s", kind),
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
