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

// Hub is where ranks that come and go while their launch goes on are connected: one of them hears
// all, and tells each.
type Hub struct {
	mesh *Mesh
	hear func(*Spoke, []byte, error)
}

// Spoke is the connection of a rank's process to the hub, at either end.
type Spoke struct {
	Rank int // at the hub: whose process it is
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex // of writing
}

// NewHub makes one at a rank. nodes are those of all ranks. hear is called with each message of a
// process in its order, and at last with the error with which its connection ended; before all, with
// neither, when it has come. Calls for several processes come at a time.
func NewHub(nodes []string, self int, hear func(*Spoke, []byte, error)) (*Hub, error) {
	m, err := Listen(nodes, self)
	if err != nil {
		return nil, err
	}
	h := &Hub{mesh: m, hear: hear}
	go h.accept()
	return h, nil
}

// Address is what others need to reach it.
func (h *Hub) Address() ([]byte, error) { return h.mesh.Address(nil) }

// Close takes no more processes. Those that are connected stay.
func (h *Hub) Close() error { return h.mesh.listener.Close() }

func (h *Hub) accept() {
	var waiting guests
	defer waiting.close()
	for {
		conn, ok := h.mesh.guest(&waiting)
		if !ok {
			return
		}
		go h.take(conn, &waiting)
	}
}

// chosen is what a process says over the connection that it keeps, of those that it made to several
// addresses of the hub's host.
const chosen = 1

// take reads from a process until it ends. A connection that does not know the launch is closed; one
// that its process does not keep is not heard of.
func (h *Hub) take(conn net.Conn, waiting *guests) {
	defer conn.Close()
	rank, known := h.mesh.hello(conn)
	if !waiting.remove(conn) || !known || rank >= len(h.mesh.nodes) {
		return
	}
	s := &Spoke{Rank: rank, conn: conn, in: bufio.NewReader(conn)}
	if _, err := conn.Write([]byte{0}); err != nil {
		return
	}
	if kept, err := s.in.ReadByte(); err != nil || kept != chosen || conn.SetDeadline(time.Time{}) != nil {
		return
	}
	h.hear(s, nil, nil)
	for {
		message, err := s.Receive()
		h.hear(s, message, err)
		if err != nil {
			return
		}
	}
}

// Join connects a rank's process to the hub with an address.
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

// Send sends a message. An error shows at the other end too, and when something is received.
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
