package link

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"

	"weir/executor/trust"
)

// peer is one connection of an agent.
type peer struct {
	*wire
	name     string      // of its certificate
	admitted func()      // it is no stranger any more
	called   atomic.Bool // it has said hello
	known    atomic.Bool // it was told welcome
	streams  atomic.Int32
}

// serve serves one connection until it ends. It gives back the place among strangers
// that it came with.
func (s *Server) serve(raw net.Conn) {
	admitted := sync.OnceFunc(func() { <-s.strangers })
	defer admitted()
	defer raw.Close()
	hurry, cancel := context.WithTimeout(s.life, s.patience)
	defer cancel()
	conn := tls.Server(raw, s.tls)
	if conn.HandshakeContext(hurry) != nil {
		return
	}
	state := conn.ConnectionState()
	switch state.NegotiatedProtocol {
	case enrolProtocol:
		_ = within(hurry, raw, func() error { s.enrol(conn); return nil })
		return
	case linkProtocol:
	default: // a peer that names none
		return
	}
	role, name, err := trust.PeerName(state)
	if err != nil || role != trust.Agent {
		return
	}
	if within(hurry, raw, func() error { _, err := conn.Write([]byte{greeting}); return err }) != nil {
		return
	}
	p := &peer{wire: newWire(raw, conn, s.pace), name: name}
	stranger := time.AfterFunc(s.patience, func() { p.end(errors.New("it did not say who it is")) })
	p.admitted = func() { stranger.Stop(); admitted() }
	defer stranger.Stop()
	s.carry(p)
}

// carry serves the streams of a connection until it ends.
func (s *Server) carry(p *peer) {
	mux, err := yamux.Server(p.wire, muxConfig())
	if err != nil {
		p.end(err)
		return
	}
	life, cancel := context.WithCancel(s.life)
	defer cancel()
	context.AfterFunc(life, func() { p.end(errors.New("the session is over")) })
	var streams sync.WaitGroup
	defer streams.Wait()
	streams.Go(func() { beat(p.wire, mux, s.pace.beat) })
	for {
		stream, err := mux.AcceptStream()
		if err != nil {
			p.end(err)
			return
		}
		if p.streams.Add(1) > maxStreams {
			p.end(errors.New("it opens too many streams"))
			return
		}
		streams.Go(func() {
			defer p.streams.Add(-1)
			s.stream(life, p, stream)
		})
	}
}

// stream does what a stream is for.
func (s *Server) stream(ctx context.Context, p *peer, stream net.Conn) {
	kind := make([]byte, 1)
	hurry, cancel := context.WithTimeout(ctx, s.patience)
	err := within(hurry, stream, func() error { _, err := io.ReadFull(stream, kind); return err })
	cancel()
	switch {
	case err != nil:
		stream.Close()
	case kind[0] == streamEtcd && p.known.Load():
		s.splice(ctx, stream)
		stream.Close()
	case kind[0] == streamAttach:
		h := &handed{Conn: stream, peer: p, closed: make(chan struct{})}
		select {
		case s.attached.conns <- h:
			<-h.closed // by gRPC, whatever happens
		case <-ctx.Done():
			stream.Close()
		}
	default:
		p.end(errors.New("it opens a stream of which there are none"))
	}
}

// handed is a stream that gRPC has, by whose address the call knows its connection.
type handed struct {
	net.Conn
	peer   *peer
	once   sync.Once
	closed chan struct{}
}

func (h *handed) Close() error {
	h.once.Do(func() { close(h.closed) })
	return h.Conn.Close()
}

func (h *handed) RemoteAddr() net.Addr { return peerAddress{h.peer} }

type peerAddress struct{ peer *peer }

func (peerAddress) Network() string { return "link" }
func (peerAddress) String() string  { return "an agent" }
