package mesh

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// Hub connects ranks that come and go during a launch: the hub receives the messages of all, and sends to each.
type Hub struct {
	mesh      *Mesh
	onMessage func(*Spoke, []byte, error)
}

// Spoke is the connection of a rank's process to the hub, at either end.
type Spoke struct {
	Rank int // at the hub: the rank of the process
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex // for writing
}

// NewHub makes a hub at rank self. nodes are those of all ranks. onMessage is called for each process: with neither
// message nor error when it connects, with each message in order, and finally with the error that ended the connection.
// Calls for several processes are concurrent.
func NewHub(nodes []string, self int, onMessage func(*Spoke, []byte, error)) (*Hub, error) {
	m, err := Listen(nodes, self)
	if err != nil {
		return nil, err
	}
	h := &Hub{mesh: m, onMessage: onMessage}
	go h.accept()
	return h, nil
}

// Address returns the address that others need to connect.
func (h *Hub) Address() ([]byte, error) { return h.mesh.Address(nil) }

// Close accepts no more processes. Existing connections stay.
func (h *Hub) Close() error { return h.mesh.listener.Close() }

func (h *Hub) accept() {
	var pending pendingConns
	defer pending.close()
	for {
		conn, ok := h.mesh.acceptPending(&pending)
		if !ok {
			return
		}
		go h.take(conn, &pending)
	}
}

// chosen is sent on the connection that a process keeps, if it has several to different addresses of the hub's host.
const chosen = 1

// take reads from a process until it ends. It closes connections without the launch's token, and ignores those that
// their process does not keep.
func (h *Hub) take(conn net.Conn, pending *pendingConns) {
	defer conn.Close()
	rank, known := h.mesh.hello(conn)
	if !pending.remove(conn) || !known || rank >= len(h.mesh.nodes) {
		return
	}
	s := &Spoke{Rank: rank, conn: conn, in: bufio.NewReader(conn)}
	if _, err := conn.Write(acceptance(h.mesh.token)); err != nil {
		return
	}
	if kept, err := s.in.ReadByte(); err != nil || kept != chosen || conn.SetDeadline(time.Time{}) != nil {
		return
	}
	h.onMessage(s, nil, nil)
	for {
		message, err := s.Receive()
		h.onMessage(s, message, err)
		if err != nil {
			return
		}
	}
}

// Join connects a rank's process to the hub at an address.
func Join(address []byte, nodes []string, self int, timeout time.Duration) (*Spoke, error) {
	var c contact
	if err := json.Unmarshal(address, &c); err != nil {
		return nil, fmt.Errorf("the address of the rank that leads: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	m := &Mesh{nodes: nodes, self: self}
	conn, err := m.dial(ctx, c)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write([]byte{chosen}); err != nil {
		conn.Close()
		return nil, err
	}
	return &Spoke{Rank: self, conn: conn, in: bufio.NewReader(conn)}, nil
}

// Send sends a message. Errors also show at the other end, and when receiving.
func (s *Spoke) Send(message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

// Receive waits for a message.
func (s *Spoke) Receive() ([]byte, error) { return readMessage(s.in) }

// Close ends the connection.
func (s *Spoke) Close() error { return s.conn.Close() }
