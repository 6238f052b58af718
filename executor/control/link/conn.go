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
)

// linkProtocol is the ALPN protocol of links.
const linkProtocol = "weir-link/1"

// greeting is the version of the protocol, the first byte that the coordinator sends. The agent sends
// nothing before it: otherwise a reset could hide the TLS alert that refuses its certificate.
const greeting = 4

// epoch is the origin of now.
var epoch = time.Now()

// now is a monotonic time.
func now() time.Duration { return time.Since(epoch) }

// wire is a TLS connection after the handshake. It ends when no byte is received for idle.
type wire struct {
	net.Conn // of TLS
	raw      net.Conn
	idle     time.Duration
	silent   *watchdog
	ended    chan struct{}

	mu       sync.Mutex
	lastByte time.Duration // when the last byte was received
	cause    error         // of the end
}

// dialled performs the handshake on the agent's side.
func dialled(ctx context.Context, raw net.Conn, c *tls.Config, p timeouts) (*wire, error) {
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

// handshakeError makes permanent errors refusals.
func handshakeError(err error) error {
	if isRefusal(err) {
		return err
	}
	if isAlert(err) {
		return refused("the coordinator refuses this agent's certificate: %w", err)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return refused("this is not the coordinator: %w", err)
	}
	return fmt.Errorf("TLS handshake with the coordinator: %w", err)
}

// isAlert reports whether an error is a TLS alert of the other side.
func isAlert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

// within calls f, and closes the connection to interrupt it when ctx ends.
func within(ctx context.Context, raw net.Conn, f func() error) error {
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	err := f()
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}

func newWire(raw net.Conn, t *tls.Conn, p timeouts) *wire {
	idle := p.idle
	if isPipe(raw) {
		idle = p.silence // it cannot be reconnected
	}
	w := &wire{Conn: t, raw: raw, idle: idle, ended: make(chan struct{}), lastByte: now()}
	w.silent = newWatchdog(func() { w.end(fmt.Errorf("nothing received for %s", idle)) })
	w.silent.Reset(idle)
	return w
}

// Read is called by gRPC. Each byte is a sign of life of the peer, as TLS has authenticated it.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 {
		w.mu.Lock()
		if w.cause == nil {
			w.lastByte = now()
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

// Close is called by gRPC.
func (w *wire) Close() error { w.end(errClosed); return nil }

// end closes the connection; the first cause stays. It sends no TLS close_notify, which could block.
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

func (w *wire) lastRead() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lastByte
}

// exchangeHeartbeats sends and receives heartbeats until the call ends. The two directions are independent.
func exchangeHeartbeats(call frames, every time.Duration) {
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
				if call.Send(&frame{}) != nil {
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
