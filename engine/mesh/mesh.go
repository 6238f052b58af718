// Package mesh connects the ranks of a launch with each other for messages, apart from the measured data path.
package mesh

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
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

	"github.com/weir-bench/weir/engine"
)

const (
	tokenBytes  = 16
	lengthBytes = 4       // of the prefix of a message
	maxBytes    = 1 << 26 // of a message
)

// greetingTime is the time limit of a new connection to identify itself.
const greetingTime = 10 * time.Second

// Mesh are the connections of a rank to all others of its launch.
type Mesh struct {
	nodes    []string // by rank
	self     int
	listener net.Listener
	token    []byte // shared by the ranks of the launch

	mu    sync.Mutex
	conns []net.Conn // by rank; nil: itself
}

// OnMessage is called with each message of another rank, in order, and with the error when the connection ends. Calls
// for several ranks are concurrent.
type OnMessage func(from int, message []byte, err error)

// contact is the address of a rank for others.
type contact struct {
	Token []byte          `json:"token"`
	Port  uint16          `json:"port"`
	Hosts []netip.Addr    `json:"hosts"` // addresses of its host
	More  json.RawMessage `json:"more"`
}

// onOneNode reports whether all ranks are on the same node.
func (m *Mesh) onOneNode() bool {
	return !slices.ContainsFunc(m.nodes, func(n string) bool { return n != m.nodes[0] })
}

// Listen makes a mesh that others can connect to. nodes are those of all ranks.
func Listen(nodes []string, self int) (*Mesh, error) {
	m := &Mesh{nodes: nodes, self: self, token: make([]byte, tokenBytes), conns: make([]net.Conn, len(nodes))}
	_, _ = rand.Read(m.token) // it never fails
	at := ":0"
	if m.onOneNode() {
		at = "127.0.0.1:0"
	}
	var err error
	if m.listener, err = net.Listen("tcp", at); err != nil {
		return nil, fmt.Errorf("listening for the other ranks: %w", err)
	}
	return m, nil
}

// Address returns the address of this rank as JSON, with more data for the others.
func (m *Mesh) Address(more any) ([]byte, error) {
	c := contact{Token: m.token, Port: m.listener.Addr().(*net.TCPAddr).AddrPort().Port()}
	var err error
	if c.More, err = json.Marshal(more); err != nil {
		return nil, err
	}
	if m.onOneNode() {
		c.Hosts = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
		return json.Marshal(c)
	}
	var loopback []netip.Addr
	if c.Hosts, loopback, err = HostAddresses(); err != nil {
		return nil, err
	}
	c.Hosts = append(c.Hosts, loopback...) // for nodes of one host without a network
	return json.Marshal(c)
}

// HostAddresses returns the addresses by which others may reach this host, and its loopback addresses.
func HostAddresses() (others, loopback []netip.Addr, err error) {
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

// Connect connects to all other ranks, with addresses in rank order, and returns the additional data of all ranks.
func (m *Mesh) Connect(
	addresses [][]byte, timeout time.Duration, onMessage OnMessage,
) (more []json.RawMessage, err error) {
	defer m.listener.Close()
	contacts := make([]contact, len(addresses))
	for i, text := range addresses {
		if err := json.Unmarshal(text, &contacts[i]); err != nil {
			return nil, fmt.Errorf("the address of rank %d: %w", i, err)
		}
		more = append(more, contacts[i].More)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	accepted := make(chan error, 1)
	go func() { accepted <- m.accept(ctx, len(addresses)-1-m.self) }()
	for other := range m.self {
		conn, err := m.dial(ctx, contacts[other])
		if err != nil {
			return nil, &engine.Error{
				Phase: "connect", Peer: other, Text: fmt.Sprintf("connecting to rank %d on node %s: %v", other,
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
			go listenTo(other, conn, onMessage)
		}
	}
	return more, nil
}

// listenTo receives the messages of another rank.
func listenTo(other int, conn net.Conn, onMessage OnMessage) {
	in := bufio.NewReader(conn)
	for {
		message, err := readMessage(in)
		onMessage(other, message, err)
		if err != nil {
			return
		}
	}
}

func readMessage(in io.Reader) ([]byte, error) {
	head := make([]byte, lengthBytes)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head)
	if n > maxBytes {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	message := make([]byte, n)
	_, err := io.ReadFull(in, message)
	return message, err
}

// Broadcast sends a message to all others; it ignores lost ones.
func (m *Mesh) Broadcast(message []byte) {
	framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
	for _, conn := range m.conns {
		if conn != nil {
			_, _ = conn.Write(framed)
		}
	}
}

// HostOf returns the address of a rank's host: 127.0.0.1 if there is only one.
func (m *Mesh) HostOf(rank int) string {
	if m.onOneNode() {
		return "127.0.0.1"
	}
	for i, conn := range m.conns {
		switch {
		case conn == nil:
		case m.nodes[rank] != m.nodes[m.self] && i == rank:
			return host(conn.RemoteAddr())
		case m.nodes[rank] == m.nodes[m.self] && m.nodes[i] != m.nodes[m.self]:
			return host(conn.LocalAddr()) // by which others see this host
		}
	}
	return "127.0.0.1"
}

func host(a net.Addr) string {
	return a.(*net.TCPAddr).AddrPort().Addr().Unmap().String()
}

// Close closes the connections.
func (m *Mesh) Close() error {
	for _, conn := range m.conns {
		if conn != nil {
			conn.Close()
		}
	}
	return nil
}

// dial tries the addresses of a rank's host concurrently, and takes the first that answers as that rank.
func (m *Mesh) dial(ctx context.Context, c contact) (net.Conn, error) {
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
		go func() { // later results
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

// acceptance is the answer to a token. Another program may listen at the port of a rank on this host, and even repeat
// what it is sent; it does not know this.
func acceptance(token []byte) []byte {
	sum := sha256.Sum256(append([]byte("accepted "), token...))
	return sum[:tokenBytes]
}

// greet identifies this rank, and waits until the other one accepts it.
func (m *Mesh) greet(ctx context.Context, at netip.AddrPort, token []byte) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(greetingTime))
	hello := binary.BigEndian.AppendUint16(slices.Clone(token), uint16(m.self))
	answer := make([]byte, tokenBytes)
	if _, err = conn.Write(hello); err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if err == nil && subtle.ConstantTimeCompare(answer, acceptance(token)) == 0 {
		err = errors.New("another program answers")
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return conn, conn.SetDeadline(time.Time{})
}

// maxPending limits the unidentified connections.
const maxPending = 256

// pendingConns are unidentified connections. All are read concurrently, so that a silent one delays no other; if there
// are too many, the oldest is closed.
type pendingConns struct {
	mu    sync.Mutex
	conns []net.Conn // the oldest first
}

func (g *pendingConns) add(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns = append(g.conns, conn); len(g.conns) > maxPending {
		g.conns[0].Close()
		g.conns = g.conns[1:]
	}
}

// remove reports whether the connection was still pending.
func (g *pendingConns) remove(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.conns, conn)
	if i < 0 {
		return false
	}
	g.conns = slices.Delete(g.conns, i, i+1)
	return true
}

func (g *pendingConns) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, conn := range g.conns {
		conn.Close()
	}
	g.conns = nil
}

// acceptPending accepts the next connection; false: the listener is closed.
func (m *Mesh) acceptPending(pending *pendingConns) (net.Conn, bool) {
	for {
		conn, err := m.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil, false
		}
		if err == nil {
			pending.add(conn)
			return conn, true
		}
		time.Sleep(10 * time.Millisecond) // too many open descriptors: some are of pending connections
	}
}

// accept accepts the connections of this many higher ranks. It closes others.
func (m *Mesh) accept(ctx context.Context, missing int) error {
	stop := context.AfterFunc(ctx, func() { m.listener.Close() })
	defer stop()
	var pending pendingConns
	defer pending.close()
	taken := make(chan struct{}, missing)
	go func() {
		for {
			conn, ok := m.acceptPending(&pending)
			if !ok {
				return
			}
			go func() {
				from, known := m.hello(conn)
				if pending.remove(conn) && known && m.take(from, conn) {
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
				Phase: "connect", Peer: -1, Code: -int(unix.ETIMEDOUT), Text: "not all ranks have connected",
			}
		}
	}
	return nil
}

// hello reads the token and the rank of a connection; it reads nothing more before the token is verified.
func (m *Mesh) hello(conn net.Conn) (from int, known bool) {
	_ = conn.SetDeadline(time.Now().Add(greetingTime))
	token, rank := make([]byte, tokenBytes), make([]byte, 2)
	if _, err := io.ReadFull(conn, token); err != nil || subtle.ConstantTimeCompare(token, m.token) == 0 {
		return 0, false
	}
	_, err := io.ReadFull(conn, rank)
	return int(binary.BigEndian.Uint16(rank)), err == nil
}

// take keeps a connection if its rank was missing.
func (m *Mesh) take(from int, conn net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if from <= m.self || from >= len(m.conns) || m.conns[from] != nil {
		return false // it has connected by another of this host's addresses
	}
	if _, err := conn.Write(acceptance(m.token)); err != nil || conn.SetDeadline(time.Time{}) != nil {
		return false
	}
	m.conns[from] = conn
	return true
}
