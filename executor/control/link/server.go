package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
)

// ServerOptions are the coordinator's side of the links of a session. The functions are called one at a
// time for each node, concurrently for several nodes; they must not call Close.
type ServerOptions struct {
	Credentials Credentials
	Session     string
	// Lend opens a connection to the part of the session's etcd for the programs of a launch on a node; nil:
	// there is no etcd. It may be called concurrently for one node.
	Lend func(ctx context.Context, node, name string) (net.Conn, error)
	// Silence is the time without a sign of a node after which it is down; 0: DefaultSilence.
	Silence time.Duration
	// Take handles a report. An error ends the node's link.
	Take func(node string, m Message) error
	// Up is called before the first report of an instance; Send works from then on. An error refuses the
	// node, which receives it.
	Up func(node, instance string) error
	// Down is called after the end of each instance that was up; cause is nil after a regular end.
	Down func(node string, cause error)
}

// Limits for peers.
const (
	helloTimeout  = 5 * time.Second  // for handshake and hello
	pipeTimeout   = 20 * time.Second // for those over a pipe, which is one attempt, also on a starved host
	maxStrangers  = 256              // connections before hello; others wait in the kernel
	maxStreams    = 128              // concurrent calls of a connection: two, and those of Lend
	maxAssembling = 256 << 20        // bytes of incomplete reports
	maxPast       = 4096             // remembered instances that have ended
)

// Server is the coordinator's side.
type Server struct {
	o            ServerOptions
	timeouts     timeouts
	helloTimeout time.Duration
	grpc         *grpc.Server
	strangers    chan struct{}
	assembly     *semaphore.Weighted
	life         context.Context
	stop         context.CancelFunc
	wg           sync.WaitGroup
	closing      sync.Once

	mu        sync.Mutex
	closed    bool
	members   map[string]*member // the present instances by node
	past      map[instance]error // the causes of ended instances
	pastOrder []instance
}

type instance struct{ node, id string }

// NewServer makes the coordinator's side. Listen and Serve add connections.
func NewServer(o ServerOptions) (*Server, error) {
	return newServer(o, helloTimeout)
}

func newServer(o ServerOptions, helloTimeout time.Duration) (*Server, error) {
	if o.Take == nil {
		return nil, errors.New("a coordinator needs a function Take")
	}
	i, err := o.Credentials()
	if err == nil {
		err = i.Check(Coordinator, "")
	}
	if err != nil {
		return nil, err
	}
	s := &Server{
		o: o, timeouts: timeoutsOf(o.Silence), helloTimeout: helloTimeout,
		strangers: make(chan struct{}, maxStrangers), assembly: semaphore.NewWeighted(maxAssembling),
		members: map[string]*member{}, past: map[instance]error{},
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.grpc = newGRPC(s)
	return s, nil
}

// Listen serves agents at a TCP address until Close, and returns the actual address.
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
	s.wg.Go(func() { _ = s.grpc.Serve(strangerListener{l, s}) }) // until Close
	return l.Addr(), nil
}

// Serve serves one agent over an existing connection, such as a pipe, until it ends.
func (s *Server) Serve(conn net.Conn) {
	if !s.placeForStranger() {
		conn.Close()
		return
	}
	_ = s.grpc.Serve(&oneConnListener{conn: s.stranger(conn)})
}
