package link

import (
	"sync"
	"time"
)

// Close tells all agents to leave, and waits for their links to end. Queued orders are dropped, and Down
// is not called.
func (s *Server) Close() { s.closing.Do(s.close) }

func (s *Server) close() {
	s.mu.Lock()
	s.closed = true
	gone := s.askToLeave()
	s.mu.Unlock()
	grace := time.NewTimer(s.timeouts.silence / 2)
	defer grace.Stop()
	for _, free := range gone {
		select {
		case <-free:
			continue
		case <-grace.C:
		}
		break
	}
	s.stop() // ends all connections
	var taking sync.WaitGroup
	s.mu.Lock()
	for _, m := range s.members {
		m.in.discard()
		taking.Go(func() { <-m.in.idle() })
	}
	s.mu.Unlock()
	s.grpc.Stop()
	taking.Wait()
	s.wg.Wait()
}

// askToLeave asks all agents to leave; each returned channel is closed when one has left.
func (s *Server) askToLeave() []chan struct{} {
	var gone []chan struct{}
	for _, m := range s.members {
		m.silent.Stop()
		m.out.drop()
		if m.peer != nil {
			gone = append(gone, m.free)
		}
	}
	return gone
}
