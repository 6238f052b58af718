package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"weir/executor/trust"
)

// What the two sides agree on while they shake hands: an agent's link, or the request
// of one that has no certificate yet.
const (
	linkProtocol  = "weir-link/1"
	enrolProtocol = "weir-enrol/1"
)

// greeting is what the coordinator sends first: the version of the protocol. Until it has
// come the agent sends nothing, so that the alert by which its certificate is refused is
// not lost behind a reset.
const greeting = 2

// epoch is where the time of this process begins.
var epoch = time.Now()

// now is a time that no change of the clock changes.
func now() time.Duration { return time.Since(epoch) }

// wire is a connection after the handshake: it ends when it says nothing for too long.
type wire struct {
	net.Conn // of TLS
	raw      net.Conn
	idle     time.Duration
	silent   *watchdog
	ended    chan struct{}

	mu    sync.Mutex
	heard time.Duration // when a byte came last
	cause error         // of the end
}

// dialled shakes hands on the agent's side.
func dialled(ctx context.Context, raw net.Conn, c *tls.Config, p pace) (*wire, error) {
	c = c.Clone()
	c.NextProtos = []string{linkProtocol}
	t := tls.Client(raw, c)
	err := t.HandshakeContext(ctx)
	if err == nil {
		err = within(ctx, raw, func() error {
			hello := make([]byte, 1)
			_, err := io.ReadFull(t, hello)
			if err == nil && hello[0] != greeting {
				err = refused("the coordinator speaks version %d of this protocol, this agent speaks %d", hello[0],
					greeting)
			}
			return err
		})
	}
	if err != nil {
		raw.Close()
		return nil, handshakeError(err)
	}
	return newWire(raw, t, p), nil
}

// handshakeError tells what will not change by itself from what may.
func handshakeError(err error) error {
	if isRefusal(err) {
		return err
	}
	if isAlert(err) {
		return refused("the coordinator refuses this agent's certificate: %w", err)
	}
	if _, ok := errors.AsType[*trust.PeerError](err); ok {
		return refused("this is not the coordinator: %w", err)
	}
	return fmt.Errorf("shaking hands with the coordinator: %w", err)
}

// isAlert says whether the other side ended a handshake, and not the way to it.
func isAlert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

// within does something that only closing the connection interrupts.
func within(ctx context.Context, raw net.Conn, f func() error) error {
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	err := f()
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}

func newWire(raw net.Conn, t *tls.Conn, p pace) *wire {
	idle := p.idle
	if _, once := raw.(*pipe); once {
		idle = p.silence // it cannot be connected again in what is left of the silence
	}
	w := &wire{Conn: t, raw: raw, idle: idle, ended: make(chan struct{}), heard: now()}
	w.silent = newWatchdog(func() { w.end(fmt.Errorf("nothing was heard for %s", idle)) })
	w.silent.Reset(idle)
	return w
}

// Read is gRPC's. What comes has passed TLS: nobody but the peer can feign its life.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 {
		w.mu.Lock()
		if w.cause == nil { // what comes after the end is no sign of life
			w.heard = now()
			w.silent.Reset(w.idle)
		}
		w.mu.Unlock()
	}
	if err != nil {
		w.end(err)
	}
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if err != nil {
		w.end(err)
	}
	return n, err
}

// Close is gRPC's, which knows better why.
func (w *wire) Close() error { w.end(errClosed); return nil }

// end closes the connection; the first cause stays. It says no goodbye of TLS: that
// could block, and gRPC's messages say when an end is in order.
func (w *wire) end(cause error) {
	w.mu.Lock()
	first := w.cause == nil
	if first {
		w.cause = cause
		w.silent.Stop()
		close(w.ended)
	}
	w.mu.Unlock()
	if first {
		w.raw.Close()
	}
}

func (w *wire) why() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(w.cause, io.EOF) {
		return errors.New("the other side closed the connection")
	}
	return w.cause
}

func (w *wire) lastHeard() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard
}

// heartbeat is either side of the call of that name.
type heartbeat interface {
	Context() context.Context
	Send(*Beat) error
	Recv() (*Beat, error)
}

// beat sends signs of life until the call ends. It waits for no answers, which may stand
// behind megabytes: those of the other side are their own.
func beat(call heartbeat, every time.Duration) {
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-call.Context().Done():
				return
			case <-t.C:
				if call.Send(&Beat{}) != nil {
					return
				}
			}
		}
	})
	for {
		if _, err := call.Recv(); err != nil {
			return
		}
	}
}
