package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"

	"weir/executor/trust"
)

// ServerOptions are the coordinator's side of the links of a session. Of the functions,
// those about one node are called one after the other, those about several at once; none
// may call Close.
type ServerOptions struct {
	Identity  trust.Identity
	Authority *trust.Authority // who enrols newcomers; nil: nobody can
	Session   string
	// Etcd opens a connection to the session's etcd; nil: agents have their own way.
	Etcd func(ctx context.Context) (net.Conn, error)
	// Silence is how long a node may say nothing before it is down; 0: DefaultSilence.
	Silence time.Duration
	// Take takes a message; while it does not return, no other of the node comes. An
	// error ends the node's link.
	Take func(node string, m Message) error
	// Up hears of a node before any message of it; an error refuses the node, and is told.
	Up func(node, instance string) error
	// Down hears of the end of each instance that was up: nil after a goodbye.
	Down func(node string, cause error)
}

// Limits of what is held for peers.
const (
	patience      = 5 * time.Second // to shake hands and say who one is
	maxStrangers  = 256             // connections that are doing so at a time; others wait in the kernel
	maxStreams    = 16              // calls of a connection at a time
	maxAssembling = 256 << 20       // bytes of messages of several pieces that are on their way at a time
	maxPast       = 4096            // instances that are over and remembered
)

// Server is the coordinator's side.
type Server struct {
	o         ServerOptions
	pace      pace
	patience  time.Duration
	tls       *tls.Config
	grpc      *grpc.Server
	strangers chan struct{}
	assembly  *semaphore.Weighted
	life      context.Context
	stop      context.CancelFunc
	wg        sync.WaitGroup
	closing   sync.Once

	mu        sync.Mutex
	closed    bool
	members   map[string]*member // by node: the instance that is up, or about to be or not to be
	past      map[instance]error // why instances that were up are over
	pastOrder []instance
}

type instance struct{ node, id string }

// NewServer makes the coordinator's side. It serves what Listen and Serve bring.
func NewServer(o ServerOptions) (*Server, error) {
	return newServer(o, patience)
}

func newServer(o ServerOptions, patience time.Duration) (*Server, error) {
	if o.Take == nil {
		return nil, errors.New("the coordinator of agents must take what they send")
	}
	config, err := o.Identity.TLS(trust.Agent)
	if err != nil {
		return nil, err
	}
	if role, name, err := o.Identity.Role(); err != nil || role != trust.Coordinator {
		return nil, errors.Join(fmt.Errorf("the %s %q cannot be the coordinator of agents", role, name), err)
	}
	config.NextProtos = []string{linkProtocol}
	if o.Authority != nil {
		config.NextProtos = append(config.NextProtos, enrolProtocol)
		config.ClientAuth = tls.RequestClientCert
		known := config.VerifyConnection
		config.VerifyConnection = func(s tls.ConnectionState) error {
			if s.NegotiatedProtocol == enrolProtocol {
				return nil // who enrols has no certificate yet; Server.enrol is all that it reaches
			}
			return known(s)
		}
	}
	s := &Server{
		o: o, pace: paceOf(o.Silence), patience: patience, tls: config,
		strangers: make(chan struct{}, maxStrangers), assembly: semaphore.NewWeighted(maxAssembling),
		members: map[string]*member{}, past: map[instance]error{},
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.grpc = newGRPC(s)
	return s, nil
}

// Listen serves agents at a TCP address until Close. It gives the address that it got.
func (s *Server) Listen(address string) (net.Addr, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for agents: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		l.Close()
		return nil, fmt.Errorf("listening for agents: %w", net.ErrClosed)
	}
	s.wg.Go(func() { _ = s.grpc.Serve(door{l, s}) }) // its end is Close's
	return l.Addr(), nil
}

// Serve serves one agent over a connection that is there already, a pipe for one. It
// returns when that ends.
func (s *Server) Serve(conn net.Conn) {
	if !s.placeForStranger() {
		conn.Close()
		return
	}
	_ = s.grpc.Serve(&single{conn: s.stranger(conn)})
}

// Close tells all agents to leave, ends what they did, and waits for it. Of what is down
// by that, Down does not hear.
func (s *Server) Close() { s.closing.Do(s.close) }

func (s *Server) close() {
	s.mu.Lock()
	s.closed = true
	gone := s.dismiss()
	s.mu.Unlock()
	grace := time.NewTimer(s.pace.silence / 2)
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
	s.grpc.Stop()
	s.wg.Wait()
}

// dismiss tells all agents to leave and gives what is closed when each has. An agent
// that does not listen may hold up what is said to it: nobody waits for that.
func (s *Server) dismiss() []chan struct{} {
	leave := &FromCoordinator{Say: &FromCoordinator_Leave{&Leave{Why: "the session is over"}}}
	var gone []chan struct{}
	for _, m := range s.members {
		m.silent.Stop()
		if m.peer != nil {
			gone = append(gone, m.free)
			s.wg.Go(func() { _ = m.say(leave) })
		}
	}
	return gone
}
