package agent

import (
	"io"
	"os"
	"sync"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/rank"
	"github.com/weir-bench/weir/executor/wire"
)

// inProcessConn connects an agent to a rank that is a goroutine of its process, without copies.
type inProcessConn struct {
	p                       *process
	writeClosed, readClosed chan struct{} // closed when the agent sends no more, and when it receives no more
	writeOnce               sync.Once
	readOnce                sync.Once
}

func (w *inProcessConn) closeWrite() { w.writeOnce.Do(func() { close(w.writeClosed) }) }
func (w *inProcessConn) closeRead()  { w.readOnce.Do(func() { close(w.readClosed) }) }

// Receive is called by the rank.
func (w *inProcessConn) Receive() (wire.Frame, error) {
	select {
	case m, ok := <-w.p.outbox: // queued messages come before the end
		return m.frame(ok)
	default:
	}
	select {
	case m, ok := <-w.p.outbox:
		return m.frame(ok)
	case <-w.writeClosed:
	case <-w.readClosed:
	}
	return wire.Frame{}, io.EOF
}

func (m outgoing) frame(ok bool) (wire.Frame, error) {
	if !ok {
		return wire.Frame{}, io.EOF
	}
	return wire.NewFrame(m.kind, m.body...)
}

// Send is called by the rank.
func (w *inProcessConn) Send(kind wire.Kind, body ...[]byte) error {
	select {
	case <-w.readClosed:
		return io.ErrClosedPipe
	default:
	}
	f, err := wire.NewFrame(kind, body...)
	if err == nil {
		w.p.emit(event{from: w.p, frame: &f})
	}
	return err
}

// startInProcess starts a rank as a goroutine of this process. It exchanges the messages of a rank process, except
// that it gets its launch directly, has no output and no exit status.
func startInProcess(e engine.Engine, l wire.Launch, emit func(event)) *process {
	p := &process{emit: emit, outbox: make(chan outgoing, 2), control: &engine.Control{}}
	p.inProcess = &inProcessConn{p: p, writeClosed: make(chan struct{}), readClosed: make(chan struct{})}
	go func() {
		rank.RunInProcess(p.inProcess, l, p.control, e)
		p.emit(event{from: p, exit: &os.ProcessState{}})
	}()
	return p
}
