package link

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// member is an instance of a node's agent, over its successive connections.
type member struct {
	instance

	// of Server.mu
	peer   *peer         // its connection; nil while it has none
	free   chan struct{} // closed when peer has detached, or Down has returned
	busy   bool          // Up or Down is running
	silent *watchdog     // without a connection, until it is down
	due    time.Duration // when it is down

	out  *outbox
	in   *inbox // used by the goroutine of peer
	life context.Context
	stop context.CancelCauseFunc // of life: the instance has ended for good
}

// newMember makes an instance with a connection; up is to be called next.
func (s *Server) newMember(i instance, p *peer) *member {
	m := &member{instance: i, peer: p, free: make(chan struct{}), busy: true, out: newOutbox()}
	m.silent = newWatchdog(func() { s.silent(m) })
	m.life, m.stop = context.WithCancelCause(context.Background())
	m.in = &inbox{
		out: m.out, budget: s.assembly,
		take: func(r Message) error {
			if err := s.o.Take(m.node, r); err != nil {
				return fmt.Errorf("taking a report of node %s: %w", m.node, err)
			}
			return nil
		},
		failed: func(err error) { s.fail(m, err) },
	}
	return m
}

// errGoodbye is the regular end of an instance.
var errGoodbye = errors.New("it has said goodbye")

// admit attaches a connection to its instance, or to a new one.
func (s *Server) admit(ctx context.Context, p *peer, hello *hello) (*member, error) {
	id := instance{hello.Node, hello.Instance}
	if err := s.identify(p, hello); err != nil {
		return nil, status.Error(codes.PermissionDenied, err.Error())
	}
	for {
		s.mu.Lock()
		over, past := s.past[id]
		m := s.members[id.node]
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, status.Error(codes.PermissionDenied, "the session is over")
		case past && over == errGoodbye: // it did not receive the farewell
			s.mu.Unlock()
			return nil, errGoodbye
		case past:
			s.mu.Unlock()
			return nil, status.Errorf(codes.PermissionDenied, "this agent of node %s has ended: %v", id.node, over)
		case m == nil:
			if hello.Received > 0 {
				s.mu.Unlock()
				return nil, status.Errorf(codes.PermissionDenied,
					"this agent reports %d received pieces, and none were sent", hello.Received)
			}
			m = s.newMember(id, p)
			s.members[id.node] = m
			s.mu.Unlock()
			return m, s.up(m)
		case m.id != id.id && m.peer == nil && !m.busy: // a new instance replaces a disconnected one
			m.busy, m.free = true, make(chan struct{})
			s.mu.Unlock()
			_ = s.down(m, fmt.Errorf("another agent of the node has come: %s", id.id))
		case m.id != id.id:
			s.mu.Unlock()
			return nil, status.Errorf(codes.Unavailable, "node %s has an agent already: %s", id.node, m.id)
		case m.peer == nil && !m.busy:
			m.peer, m.free = p, make(chan struct{})
			m.silent.Stop()
			s.mu.Unlock()
			return m, nil
		default: // its old connection has not ended
			old, free := m.peer, m.free
			s.mu.Unlock()
			if old != nil {
				old.end(errors.New("the agent has made another connection"))
			}
			select {
			case <-free:
			case <-ctx.Done():
				return nil, status.FromContextError(ctx.Err()).Err()
			}
		}
	}
}

// identify checks the hello of an agent against its certificate.
func (s *Server) identify(p *peer, hello *hello) error {
	switch {
	case hello.Session != s.o.Session:
		return fmt.Errorf("this is session %s, not %.80q", s.o.Session, hello.Session)
	case !slices.Contains(p.names, AnyNode) && !slices.Contains(p.names, hello.Node):
		return fmt.Errorf("the certificate is for %s, and not for node %.80q", quoted(p.names), hello.Node)
	case !validName(hello.Node, maxName) || hello.Node == AnyNode:
		return fmt.Errorf("%.80q is not a valid name of a node", hello.Node)
	case !validName(hello.Instance, 100):
		return fmt.Errorf("%.80q is not a valid name of an instance", hello.Instance)
	}
	return nil
}

// up calls Up for a new instance, which is busy.
func (s *Server) up(m *member) error {
	var err error
	if s.o.Up != nil {
		err = s.o.Up(m.node, m.id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		m.busy = false
		return nil
	}
	delete(s.members, m.node) // it stays busy, so that down is not called
	m.out.fail(err)
	close(m.free)
	return status.Error(codes.PermissionDenied, err.Error())
}

// down ends an instance: it waits until all its reports were taken, calls Down, and returns the cause. The
// caller has made the instance busy, with a new free.
func (s *Server) down(m *member, cause error) error {
	m.in.abandon()
	m.out.fail(errDown)
	if cause != nil && s.isClosed() {
		m.in.discard()
	}
	if err := m.in.drained(); cause == nil {
		cause = err
	}
	m.stop(cause)
	if s.o.Down != nil && !s.isClosed() {
		s.o.Down(m.node, cause)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, m.node)
	over := cause
	if over == nil {
		over = errGoodbye
	}
	if len(s.pastOrder) >= maxPast {
		delete(s.past, s.pastOrder[0])
		s.pastOrder = s.pastOrder[1:]
	}
	s.past[m.instance] = over
	s.pastOrder = append(s.pastOrder, m.instance)
	close(m.free)
	return cause
}

var errDown = errors.New("the agent of the node is down")

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// detach separates a connection from its instance. If over, the instance has ended with the cause err;
// otherwise it may reconnect within the rest of its silence. It returns the final values of both.
func (s *Server) detach(m *member, over bool, err error) (bool, error) {
	s.mu.Lock()
	if !over && m.life.Err() != nil && !s.closed { // the instance failed after its connection
		over, err = true, context.Cause(m.life)
	}
	p, free := m.peer, m.free
	m.peer, m.busy = nil, over
	if !over && !s.closed {
		// at least silence - idle: after a suspension, this process notices an idle connection late
		left := max(s.timeouts.silence-p.idle, p.lastRead()+s.timeouts.silence-now())
		m.due = now() + left
		m.silent.Reset(left)
	}
	s.mu.Unlock()
	if over {
		return true, s.down(m, err)
	}
	close(free)
	return false, err
}

// silent is called when an instance has not reconnected in time.
func (s *Server) silent(m *member) {
	s.mu.Lock()
	if m.peer != nil || m.busy || s.closed || now() < m.due {
		s.mu.Unlock()
		return
	}
	m.busy, m.free = true, make(chan struct{})
	s.wg.Add(1) // under mu, and not closed: Close waits for it
	s.mu.Unlock()
	defer s.wg.Done()
	_ = s.down(m, fmt.Errorf("nothing received from the node for %s", s.timeouts.silence))
}
