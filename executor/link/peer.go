package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"

	"weir/executor/trust"
)

// peer is one connection of an agent, which gRPC gives to each of its calls.
type peer struct {
	*wire
	name     string      // of its certificate
	admitted func()      // it is no stranger any more
	called   atomic.Bool // it has said hello
	known    atomic.Bool // it was told welcome
}

// AuthType is gRPC's.
func (p *peer) AuthType() string { return "tls" }

// handshake makes peers of strangers.
type handshake struct {
	credentials.TransportCredentials // nil: a server asks for no other method
	s                                *Server
}

// ServerHandshake answers who enrols itself; gRPC hears only of agents.
func (h handshake) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	s := h.s
	hurry, cancel := context.WithTimeout(s.life, s.patience)
	defer cancel()
	conn := tls.Server(raw, s.tls)
	if err := conn.HandshakeContext(hurry); err != nil {
		return nil, nil, err
	}
	state := conn.ConnectionState()
	switch state.NegotiatedProtocol {
	case enrolProtocol:
		_ = within(hurry, raw, func() error { s.enrol(conn); return nil })
		return nil, nil, errors.New("the connection was for enrolling")
	case linkProtocol:
	default:
		return nil, nil, errors.New("the peer names no protocol")
	}
	role, name, err := trust.PeerName(state)
	if err != nil {
		return nil, nil, err
	}
	if role != trust.Agent {
		return nil, nil, fmt.Errorf("the peer is a %s", role)
	}
	if err := within(hurry, raw, func() error { _, err := conn.Write([]byte{greeting}); return err }); err != nil {
		return nil, nil, err
	}
	p := &peer{wire: newWire(raw, conn, s.pace), name: name}
	late := time.AfterFunc(s.patience, func() { p.end(errors.New("it did not say who it is")) })
	p.admitted = func() { late.Stop(); raw.(*stranger).admitted() }
	return p.wire, p, nil
}

// stranger is a connection that has one of the places for those who have not said who
// they are, until it is admitted or closed. The end of the session closes it.
type stranger struct {
	net.Conn
	admitted func()
	leave    func()
	left     chan struct{}
}

// stranger gives a connection the place that was taken for it.
func (s *Server) stranger(conn net.Conn) *stranger {
	c := &stranger{Conn: conn, admitted: sync.OnceFunc(func() { <-s.strangers }), left: make(chan struct{})}
	stop := context.AfterFunc(s.life, func() { c.Close() })
	c.leave = sync.OnceFunc(func() { stop(); c.admitted(); close(c.left) })
	return c
}

func (c *stranger) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// placeForStranger waits for a place; there is none when the session is over.
func (s *Server) placeForStranger() bool {
	select {
	case s.strangers <- struct{}{}:
		return true
	case <-s.life.Done():
		return false
	}
}

// door accepts connections while there are places for strangers.
type door struct {
	net.Listener
	s *Server
}

func (d door) Accept() (net.Conn, error) {
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

// single is a listener that has one connection, and ends with it.
type single struct {
	conn  *stranger
	given bool
}

func (l *single) Accept() (net.Conn, error) {
	if !l.given {
		l.given = true
		return l.conn, nil
	}
	<-l.conn.left
	return nil, net.ErrClosed
}

func (l *single) Close() error   { return l.conn.Close() }
func (l *single) Addr() net.Addr { return nowhere{} }
