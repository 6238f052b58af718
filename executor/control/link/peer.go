package link

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
)

// peer is one connection of an agent. It is the AuthInfo of its calls.
type peer struct {
	*wire
	names    []string               // of its certificate
	admitted func()                 // called when it is no stranger any more
	called   atomic.Bool            // it has said hello
	member   atomic.Pointer[member] // nil before hello and after the call
}

// AuthType is called by gRPC.
func (p *peer) AuthType() string { return "tls" }

// handshake are the transport credentials of the server.
type handshake struct {
	credentials.TransportCredentials // nil: a server calls no other method
	s                                *Server
}

// ServerHandshake performs the TLS handshake and sends the greeting.
func (h handshake) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	s := h.s
	limit := s.helloTimeout
	if isPipe(raw) {
		limit = pipeTimeout
	}
	hurry, cancel := context.WithTimeout(s.life, limit)
	defer cancel()
	i, err := s.o.Credentials()
	if err != nil {
		return nil, nil, err
	}
	config, err := i.server()
	if err != nil {
		return nil, nil, err
	}
	conn := tls.Server(raw, config)
	if err := conn.HandshakeContext(hurry); err != nil {
		return nil, nil, err
	}
	state := conn.ConnectionState()
	if state.NegotiatedProtocol != linkProtocol {
		return nil, nil, errors.New("the peer does not support the protocol of links")
	}
	if err := within(hurry, raw, func() error { _, err := conn.Write([]byte{greeting}); return err }); err != nil {
		return nil, nil, err
	}
	p := &peer{wire: newWire(raw, conn, s.timeouts), names: namesOf(state.PeerCertificates[0])}
	late := time.AfterFunc(limit, func() { p.end(errors.New("it did not send hello in time")) })
	p.admitted = func() { late.Stop(); raw.(*stranger).admitted() }
	return p.wire, p, nil
}

// stranger is a connection before hello; their number is limited. The end of the session closes it.
type stranger struct {
	net.Conn
	admitted func()
	leave    func()
	left     chan struct{}
}

// stranger wraps a connection for which a place was acquired.
func (s *Server) stranger(conn net.Conn) *stranger {
	c := &stranger{Conn: conn, admitted: sync.OnceFunc(func() { <-s.strangers }), left: make(chan struct{})}
	complete := make(chan struct{}) // AfterFunc may run at once
	stop := context.AfterFunc(s.life, func() { <-complete; c.Close() })
	c.leave = sync.OnceFunc(func() { stop(); c.admitted(); close(c.left) })
	close(complete)
	return c
}

func (c *stranger) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// placeForStranger acquires a place; false: the session is over.
func (s *Server) placeForStranger() bool {
	select {
	case s.strangers <- struct{}{}:
		return true
	case <-s.life.Done():
		return false
	}
}

// strangerListener acquires a place for a stranger before it accepts a connection.
type strangerListener struct {
	net.Listener
	s *Server
}

func (d strangerListener) Accept() (net.Conn, error) {
	if !d.s.placeForStranger() {
		return nil, net.ErrClosed
	}
	conn, err := d.Listener.Accept()
	if err != nil {
		<-d.s.strangers
		return nil, err
	}
	return d.s.stranger(conn), nil
}

// oneConnListener accepts a single connection, and ends with it.
type oneConnListener struct {
	conn  *stranger
	given bool
}

func (l *oneConnListener) Accept() (net.Conn, error) {
	if !l.given {
		l.given = true
		return l.conn, nil
	}
	<-l.conn.left
	return nil, net.ErrClosed
}

func (l *oneConnListener) Close() error   { return l.conn.Close() }
func (l *oneConnListener) Addr() net.Addr { return noAddress{} }
