package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"weir/executor/trust"
)

// member is an instance of a node's agent, over all its connections.
type member struct {
	instance

	// of Server.mu
	peer   *peer         // its connection; nil while it has none
	free   chan struct{} // closed when peer, or Down, is done with
	busy   bool          // Up or Down is being called
	silent *watchdog     // until it is down
	due    time.Duration // when that is

	// of whoever attends to peer, one after the other
	received  uint64 // pieces
	assembled *assembled

	speaking sync.Mutex // of words to the agent
	stream   coordinatorStream
}

// errGoodbye is the end of an instance that has said all it had to say.
var errGoodbye = errors.New("it has said goodbye")

// admit finds out whether an instance may attach with this connection, and gives what
// is known of it.
func (s *Server) admit(ctx context.Context, p *peer, hello *Hello) (*member, error) {
	who := instance{hello.Node, hello.Instance}
	if err := s.identify(p, hello); err != nil {
		return nil, status.Error(codes.PermissionDenied, err.Error())
	}
	for {
		s.mu.Lock()
		over, past := s.past[who]
		m := s.members[who.node]
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, status.Error(codes.PermissionDenied, "the session is over")
		case past && over == errGoodbye: // and did not hear the answer
			s.mu.Unlock()
			return nil, errGoodbye
		case past:
			s.mu.Unlock()
			return nil, status.Errorf(codes.PermissionDenied, "this agent of node %s is over: %v", who.node, over)
		case m == nil:
			m = &member{instance: who, peer: p, free: make(chan struct{}), busy: true}
			m.silent = newWatchdog(func() { s.silent(m) })
			s.members[who.node] = m
			s.mu.Unlock()
			return m, s.up(m)
		case m.id != who.id && m.peer == nil && !m.busy: // it went, and another came before it was missed
			m.busy, m.free = true, make(chan struct{})
			s.mu.Unlock()
			s.down(m, fmt.Errorf("another agent of the node has come: %s", who.id))
		case m.id != who.id:
			s.mu.Unlock()
			return nil, status.Errorf(codes.Unavailable, "node %s has an agent already: %s", who.node, m.id)
		case m.peer == nil && !m.busy:
			m.peer, m.free = p, make(chan struct{})
			m.silent.Stop()
			s.mu.Unlock()
			return m, nil
		default: // its old connection is not done with
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

// identify holds what an agent says of itself to its certificate, and to what can be.
func (s *Server) identify(p *peer, hello *Hello) error {
	switch {
	case hello.Session != s.o.Session:
		return fmt.Errorf("this is session %s, not %.80q", s.o.Session, hello.Session)
	case p.name != trust.AnyNode && p.name != hello.Node:
		return fmt.Errorf("the certificate is node %q's, not %.80q's", p.name, hello.Node)
	case !nameable(hello.Node, 250) || hello.Node == trust.AnyNode:
		return fmt.Errorf("a node cannot be called %.80q", hello.Node)
	case !nameable(hello.Instance, 100):
		return fmt.Errorf("an instance cannot be called %.80q", hello.Instance)
	}
	return nil
}

// up announces an instance, which has the right to be busy.
func (s *Server) up(m *member) error {
	var err error
	if s.o.Up != nil {
		err = s.o.Up(m.node, m.id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.busy = false
	if err == nil {
		return nil
	}
	delete(s.members, m.node)
	m.peer = nil
	close(m.free)
	return status.Error(codes.PermissionDenied, err.Error())
}

// down announces the end of an instance that nobody attends to any more. Whoever calls
// it has made the instance busy, with a free that others wait for.
func (s *Server) down(m *member, cause error) {
	m.assembled.drop(s.assembly)
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if s.o.Down != nil && !closed {
		s.o.Down(m.node, cause)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, m.node)
	if cause == nil {
		cause = errGoodbye
	}
	if len(s.pastOrder) >= maxPast {
		delete(s.past, s.pastOrder[0])
		s.pastOrder = s.pastOrder[1:]
	}
	s.past[m.instance] = cause
	s.pastOrder = append(s.pastOrder, m.instance)
	close(m.free)
}

// detach ends a connection's time with an instance. over says that the instance does
// not come back, and err why; otherwise it has the rest of its silence to come back.
func (s *Server) detach(m *member, over bool, err error) {
	s.mu.Lock()
	p, free := m.peer, m.free
	m.peer, m.busy = nil, over
	if !over && !s.closed {
		// the least is what is left where its connection was idle, which this process, if it
		// was suspended, may have noticed late
		left := max(s.pace.silence-p.idle, p.lastHeard()+s.pace.silence-now())
		m.due = now() + left
		m.silent.Reset(left)
	}
	s.mu.Unlock()
	if over {
		s.down(m, err)
	} else {
		close(free)
	}
}

// silent is called when an instance has not come back.
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
	s.down(m, fmt.Errorf("nothing was heard of the node for %s", s.pace.silence))
}
