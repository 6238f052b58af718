package command

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
)

const tokenBytes = 16

// greetingTime is how long whoever connects may take to say who it is.
const greetingTime = 10 * time.Second

// mesh are the connections of a rank to all others of its launch.
type mesh struct {
	nodes    []string // by rank
	self     int
	listener net.Listener
	token    []byte // which ranks of the launch know

	mu      sync.Mutex
	conns   []net.Conn // by rank; nil: itself
	states  []state
	lost    []error
	changed chan struct{} // closed and replaced with each news
}

// contact is what the others need to know of a rank.
type contact struct {
	Token []byte         `json:"token"`
	Port  uint16         `json:"port"`
	Hosts []netip.Addr   `json:"hosts"` // addresses of its host
	Ports map[string]int `json:"ports"` // free ports that it has found, by name
}

// onOneNode says whether all ranks are on the same node.
func (m *mesh) onOneNode() bool {
	return !slices.ContainsFunc(m.nodes, func(n string) bool { return n != m.nodes[0] })
}

// listen makes a mesh that others can connect to.
func listen(nodes []string, self int) (*mesh, error) {
	m := &mesh{
		nodes: nodes, self: self, token: make([]byte, tokenBytes), conns: make([]net.Conn, len(nodes)),
		states: make([]state, len(nodes)), lost: make([]error, len(nodes)), changed: make(chan struct{}),
	}
	_, _ = rand.Read(m.token) // which never fails
	at := ":0"
	if m.onOneNode() {
		at = "127.0.0.1:0"
	}
	var err error
	if m.listener, err = net.Listen("tcp", at); err != nil {
		return nil, fmt.Errorf("listening for the other roles: %w", err)
	}
	return m, nil
}

func (m *mesh) address(ports map[string]int) ([]byte, error) {
	c := contact{Token: m.token, Port: m.listener.Addr().(*net.TCPAddr).AddrPort().Port(), Ports: ports}
	if m.onOneNode() {
		c.Hosts = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
		return json.Marshal(c)
	}
	var loopback []netip.Addr
	var err error
	if c.Hosts, loopback, err = hostAddresses(); err != nil {
		return nil, err
	}
	c.Hosts = append(c.Hosts, loopback...) // for nodes of one host without a network
	return json.Marshal(c)
}

// hostAddresses are those by which others may reach this host, and those by which only itself can.
func hostAddresses() (others, loopback []netip.Addr, err error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, nil, fmt.Errorf("reading the addresses of this host: %w", err)
	}
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		switch at := prefix.Addr().Unmap(); {
		case at.IsLoopback():
			loopback = append(loopback, at)
		case !at.IsLinkLocalUnicast():
			others = append(others, at)
		}
	}
	return others, loopback, nil
}

// connect connects to all other ranks and gives the ports that they have found.
func (m *mesh) connect(addresses [][]byte, timeout time.Duration) (map[string]int, error) {
	defer m.listener.Close()
	ports := map[string]int{}
	contacts := make([]contact, len(addresses))
	for i, text := range addresses {
		if err := json.Unmarshal(text, &contacts[i]); err != nil {
			return nil, fmt.Errorf("the address of role %d: %w", i, err)
		}
		for name, port := range contacts[i].Ports {
			ports[name] = port
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	accepted := make(chan error, 1)
	go func() { accepted <- m.accept(ctx, len(addresses)-1-m.self) }()
	for other := range m.self {
		conn, err := m.dial(ctx, contacts[other])
		if err != nil {
			return nil, &engine.Error{
				Phase: "connect", Peer: other, Text: fmt.Sprintf("connecting to role %d on node %s: %v", other,
					m.nodes[other], err),
			}
		}
		m.conns[other] = conn
	}
	if err := <-accepted; err != nil {
		return nil, err
	}
	for other, conn := range m.conns {
		if conn != nil {
			go m.hear(other, conn)
		}
	}
	return ports, nil
}

// dial tries the addresses of a rank's host at the same time, and takes the first that
// answers as that rank.
func (m *mesh) dial(ctx context.Context, c contact) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type dialled struct {
		conn net.Conn
		err  error
	}
	results := make(chan dialled, len(c.Hosts))
	for _, host := range c.Hosts {
		go func() {
			conn, err := m.greet(ctx, netip.AddrPortFrom(host, c.Port), c.Token)
			results <- dialled{conn, err}
		}()
	}
	var all []error
	for i := range c.Hosts {
		d := <-results
		if d.err != nil {
			all = append(all, d.err)
			continue
		}
		go func() { // those that are late
			for range len(c.Hosts) - 1 - i {
				if d := <-results; d.err == nil {
					d.conn.Close()
				}
			}
		}()
		return d.conn, nil
	}
	return nil, errors.Join(append(all, errors.New("none of its addresses answers"))...)
}

// greet says who this rank is, and hears whether the other one takes it.
func (m *mesh) greet(ctx context.Context, at netip.AddrPort, token []byte) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(greetingTime))
	hello := binary.BigEndian.AppendUint16(slices.Clone(token), uint16(m.self))
	answer := make([]byte, 1)
	if _, err = conn.Write(hello); err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return conn, conn.SetDeadline(time.Time{})
}

// accept takes the connections of so many ranks behind this one. Others are hung up on.
func (m *mesh) accept(ctx context.Context, missing int) error {
	stop := context.AfterFunc(ctx, func() { m.listener.Close() })
	defer stop()
	taken := make(chan struct{})
	go func() {
		for {
			conn, err := m.listener.Accept()
			if err != nil {
				return
			}
			go func() {
				if m.take(conn) {
					taken <- struct{}{}
				} else {
					conn.Close()
				}
			}()
		}
	}()
	for range missing {
		select {
		case <-taken:
		case <-ctx.Done():
			return &engine.Error{
				Phase: "connect", Peer: -1, Code: -int(unix.ETIMEDOUT), Text: "not all roles have connected",
			}
		}
	}
	return nil
}

// take says whether a connection is that of a rank which was missing.
func (m *mesh) take(conn net.Conn) bool {
	_ = conn.SetDeadline(time.Now().Add(greetingTime))
	hello := make([]byte, tokenBytes+2)
	if _, err := io.ReadFull(conn, hello); err != nil || subtle.ConstantTimeCompare(hello[:tokenBytes], m.token) == 0 {
		return false
	}
	from := int(binary.BigEndian.Uint16(hello[tokenBytes:]))
	m.mu.Lock()
	defer m.mu.Unlock()
	if from <= m.self || from >= len(m.conns) || m.conns[from] != nil {
		return false // it had come by another of this host's addresses
	}
	if _, err := conn.Write([]byte{0}); err != nil || conn.SetDeadline(time.Time{}) != nil {
		return false
	}
	m.conns[from] = conn
	return true
}
