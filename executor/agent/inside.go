package agent

import (
	"io"
	"os"
	"sync"

	"weir/engine"
	"weir/executor/rank"
	"weir/executor/wire"
)

// within is what the agent and a rank that is a goroutine of its process talk over:
// messages are handed over, not copied.
type within struct {
	p          *process
	mute, gone chan struct{} // closed when nothing more will be told, and when nobody listens
	muting     sync.Once
	going      sync.Once
}

func (w *within) stopTelling() { w.muting.Do(func() { close(w.mute) }) }
func (w *within) leave()       { w.going.Do(func() { close(w.gone) }) }

// Receive is for the rank.
func (w *within) Receive() (wire.Frame, error) {
	select {
	case m, ok := <-w.p.outbox: // before the end of all that is told
		return m.frame(ok)
	default:
	}
	select {
	case m, ok := <-w.p.outbox:
		return m.frame(ok)
	case <-w.mute:
	case <-w.gone:
	}
	return wire.Frame{}, io.EOF
}

func (m outgoing) frame(ok bool) (wire.Frame, error) {
	if !ok {
		return wire.Frame{}, io.EOF
	}
	return wire.NewFrame(m.kind, m.body...)
}

// Send is for the rank.
func (w *within) Send(kind wire.Kind, body ...[]byte) error {
	select {
	case <-w.gone:
		return io.ErrClosedPipe
	default:
	}
	f, err := wire.NewFrame(kind, body...)
	if err == nil {
		w.p.emit(event{from: w.p, frame: &f})
	}
	return err
}

// startInside starts a rank that is a goroutine of this process and no process of its
// own: it says and hears what one does, but for its launch, which it shares with all
// others; it has no output, and its end is no exit.
func startInside(e engine.Engine, l wire.Launch, emit func(event)) *process {
	p := &process{emit: emit, outbox: make(chan outgoing, 2), control: &engine.Control{}}
	p.inside = &within{p: p, mute: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		rank.Inside(p.inside, l, p.control, e)
		p.emit(event{from: p, exit: &os.ProcessState{}})
	}()
	return p
}
