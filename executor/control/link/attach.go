package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// attach serves an agent over one of its connections.
func (s *Server) attach(p *peer, stream frames) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	hello := first.Hello
	if hello == nil || p.called.Swap(true) {
		return status.Error(codes.InvalidArgument, "an agent must send hello first, and only once")
	}
	m, err := s.admit(stream.Context(), p, hello)
	if errors.Is(err, errGoodbye) {
		return stream.Send(farewell)
	}
	if err != nil {
		return err
	}
	p.admitted()
	p.member.Store(m)
	sent, over, err := s.converse(m, stream, hello.Received)
	p.member.Store(nil)
	if !over {
		p.end(fmt.Errorf("the call has ended: %w", err))
		<-sent // the sender ends with the connection
	}
	over, err = s.detach(m, over, err)
	if !over {
		return err
	}
	// the agent closes the connection when it has received the status or the farewell
	time.AfterFunc(s.timeouts.silence, func() { p.end(errors.New("the agent was to leave")) })
	if err != nil { // the sender ends with the call
		return status.Error(codes.PermissionDenied, err.Error())
	}
	<-sent
	return stream.Send(farewell) // after Down was called
}

var farewell = &frame{Farewell: true}

// converse sends and receives messages. over means that the instance has ended, with the cause err. sent
// is closed when the sender has ended.
func (s *Server) converse(m *member, stream frames, received uint64) (
	sent <-chan struct{}, over bool, err error) {
	done := make(chan struct{})
	if err := m.life.Err(); err != nil {
		close(done)
		return done, true, context.Cause(m.life)
	}
	tx, err := m.out.resume(received)
	if err != nil {
		close(done)
		return done, true, err
	}
	welcome := &frame{Welcome: new(m.in.received)}
	s.wg.Go(func() { // ends with the call at the latest
		defer close(done)
		if stream.Send(welcome) == nil {
			tx.send(stream, &frame{Leave: "the session is over"})
		}
	})
	over, err = s.receive(m, tx, stream)
	tx.end()
	return done, over, err
}

// receive handles what an agent sends until it says bye, violates the protocol, or the instance or the
// call ends.
func (s *Server) receive(m *member, tx *sender, stream frames) (over bool, err error) {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(m.life, cancel)()
	received := s.read(stream)
	for {
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case r := <-received:
			if err = r.err; err == nil {
				over, err = m.in.handleAgent(ctx, tx, r.frame)
			} else if m.life.Err() == nil {
				return false, err
			}
		}
		switch {
		case m.life.Err() != nil:
			return true, context.Cause(m.life)
		case over:
			return true, err
		case err != nil: // the call ended while waiting for the agent, or for memory
			return false, err
		}
	}
}

// received is the result of a Recv.
type received struct {
	*frame
	err error
}

// read receives in a goroutine, so that receive can end while no message comes.
func (s *Server) read(stream frames) <-chan received {
	out := make(chan received)
	s.wg.Go(func() { // ends with the call at the latest
		for {
			message, err := stream.Recv()
			select {
			case out <- received{message, err}:
			case <-stream.Context().Done():
				return
			}
			if err != nil {
				return
			}
		}
	})
	return out
}

// handleAgent handles a frame of an agent. over means that it was the last one.
func (in *inbox) handleAgent(ctx context.Context, tx *sender, f *frame) (over bool, err error) {
	if f.Bye && in.assembled != nil {
		return true, errors.New("it said goodbye in the middle of a message")
	}
	if f.Bye {
		return true, nil
	}
	err = in.handle(ctx, tx, f)
	return err != nil && (f.Piece == nil || ctx.Err() == nil), err
}
