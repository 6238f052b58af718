package link

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// attach attends to an agent over one of its connections.
func (s *Server) attach(p *peer, stream coordinatorStream) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	hello := first.GetHello()
	if hello == nil || p.called.Swap(true) {
		return status.Error(codes.InvalidArgument, "an agent says hello first, and once")
	}
	m, err := s.admit(stream.Context(), p, hello)
	if errors.Is(err, errGoodbye) {
		return stream.Send(farewell)
	}
	if err != nil {
		return err
	}
	p.admitted()
	p.known.Store(true)
	over, err := s.attend(m, stream)
	p.known.Store(false)
	m.speak(nil)
	s.detach(m, over, err)
	switch {
	case !over:
		p.end(fmt.Errorf("the call has ended: %w", err))
		return err
	case err != nil:
		err = status.Error(codes.PermissionDenied, err.Error())
	default: // only now: when the agent hears it, Down has heard of it too
		err = stream.Send(farewell)
	}
	// it closes itself when it has heard
	time.AfterFunc(s.pace.silence, func() { p.end(errors.New("the agent was to leave")) })
	return err
}

var farewell = &FromCoordinator{Say: &FromCoordinator_Farewell{&Farewell{}}}

// attend takes what an agent sends. over says that it is the last.
func (s *Server) attend(m *member, stream coordinatorStream) (over bool, err error) {
	m.speak(stream)
	if err := m.say(&FromCoordinator{Say: &FromCoordinator_Welcome{&Welcome{Received: m.received}}}); err != nil {
		return false, err
	}
	for {
		word, err := stream.Recv()
		if err != nil {
			return false, err
		}
		switch say := word.Say.(type) {
		case *FromAgent_Piece:
			done, err := s.piece(stream.Context(), m, say.Piece)
			if err != nil {
				return !errors.Is(err, stream.Context().Err()), err
			}
			if done {
				if err := m.say(&FromCoordinator{Say: &FromCoordinator_Taken{m.received}}); err != nil {
					return false, err
				}
			}
		case *FromAgent_Bye:
			if m.assembled != nil {
				return true, errors.New("it said goodbye in the middle of a message")
			}
			return true, nil
		default:
			return true, errors.New("it says what this coordinator does not know")
		}
	}
}

// say tells the agent something: acknowledgements and the word to leave come from
// different sides.
func (m *member) say(word *FromCoordinator) error {
	m.speaking.Lock()
	defer m.speaking.Unlock()
	if m.stream == nil {
		return errors.New("the agent has no connection")
	}
	return m.stream.Send(word)
}

// speak sets where words go: into no call that has ended.
func (m *member) speak(stream coordinatorStream) {
	m.speaking.Lock()
	defer m.speaking.Unlock()
	m.stream = stream
}

// assembled is what has come of a message.
type assembled struct {
	Message
	bytes    []byte // head and body, as long as they are
	head     int
	size     int
	reserved bool
}

// drop gives back what the message took.
func (a *assembled) drop(budget *semaphore.Weighted) {
	if a != nil && a.reserved {
		budget.Release(int64(a.size))
		a.reserved = false
	}
}

// piece takes a piece, and says whether a message was complete and was taken.
func (s *Server) piece(ctx context.Context, m *member, p *Piece) (bool, error) {
	if p.Number != m.received+1 {
		return false, fmt.Errorf("it sends piece %d after piece %d", p.Number, m.received)
	}
	if (p.Start != nil) != (m.assembled == nil) {
		return false, errors.New("it begins a message in another, or goes on with none")
	}
	if p.Start != nil {
		a, err := begin(p.Start)
		if err != nil {
			return false, err
		}
		if a.size > pieceSize { // small ones are never kept
			if err := s.assembly.Acquire(ctx, int64(a.size)); err != nil {
				return false, err
			}
			a.reserved = true
			a.bytes = make([]byte, 0, a.size)
		}
		m.assembled = a
	}
	a := m.assembled
	if want := min(pieceSize, a.size-len(a.bytes)); len(p.Data) != want {
		return false, fmt.Errorf("a piece of %d bytes: must have %d", len(p.Data), want)
	}
	if a.size <= pieceSize {
		a.bytes = p.Data
	} else {
		a.bytes = append(a.bytes, p.Data...)
	}
	m.received = p.Number
	if len(a.bytes) < a.size {
		return false, nil
	}
	m.assembled = nil
	defer a.drop(s.assembly)
	a.Head, a.Body = a.bytes[:a.head:a.head], a.bytes[a.head:]
	if err := s.o.Take(m.node, a.Message); err != nil {
		return false, fmt.Errorf("taking a message %q of node %s: %w", a.Kind, m.node, err)
	}
	return true, nil
}

func begin(s *Start) (*assembled, error) {
	if s.Head > MaxHead || s.Body > MaxBody { // before they are added as numbers that may be shorter
		return nil, checkSizes(1, int(min(s.Head, MaxHead+1)), int(min(s.Body, MaxBody+1)))
	}
	if err := checkSizes(len(s.Kind), int(s.Head), int(s.Body)); err != nil {
		return nil, err
	}
	return &assembled{Message: Message{Kind: s.Kind}, head: int(s.Head), size: int(s.Head) + int(s.Body)}, nil
}

// nameable says whether a text can name something, in a key of etcd too.
func nameable(text string, most int) bool {
	for _, r := range text {
		if r == '/' || r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return text != "" && len(text) <= most
}
