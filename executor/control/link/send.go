package link

import (
	"errors"
	"fmt"
)

// Send queues an order for the node's instance, from the call of Up on, even without a connection. It does
// not wait for the network. The message's bytes are not copied and must not change. An instance with more
// than 256 MiB of unacknowledged orders is ended.
func (s *Server) Send(node string, m Message) error {
	if err := checkSizes(len(m.Head), len(m.Body)); err != nil {
		return err
	}
	if err := s.send(node, m); err != nil {
		return fmt.Errorf("sending an order to node %s: %w", node, err)
	}
	return nil
}

func (s *Server) send(node string, order Message) error {
	s.mu.Lock()
	m, closed := s.members[node], s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return errors.New("the session is over")
	case m == nil:
		return errors.New("no agent of the node is up")
	}
	err := m.out.putNow(order)
	if errors.Is(err, errOverflow) {
		s.fail(m, err)
	}
	return err
}

// fail ends an instance for good. The goroutine of its connection, if there is one, calls down.
func (s *Server) fail(m *member, cause error) {
	m.stop(cause)
	m.out.fail(cause)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.peer != nil || m.busy || s.closed {
		return
	}
	m.busy, m.free = true, make(chan struct{})
	m.silent.Stop()
	s.wg.Go(func() { _ = s.down(m, cause) }) // under mu and not closed, so that Close waits for it
}
