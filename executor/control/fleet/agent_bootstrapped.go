package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
)

// Inherit reads the bootstrap document, which is one line. The rest of r, and w, are the returned
// connection to the coordinator.
func Inherit(r io.Reader, w io.WriteCloser) (launcher.Bootstrap, net.Conn, error) {
	in := bufio.NewReaderSize(r, launcher.MaxBootstrap)
	line, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return launcher.Bootstrap{}, nil, fmt.Errorf("reading a bootstrap document: it is longer than %d bytes",
			launcher.MaxBootstrap)
	case err != nil:
		return launcher.Bootstrap{}, nil, fmt.Errorf("reading a bootstrap document from standard input: %w", err)
	}
	b, err := launcher.DecodeBootstrap(line)
	if err != nil {
		return launcher.Bootstrap{}, nil, err
	}
	return b, link.Pipe(io.NopCloser(in), w), nil
}

// RunBootstrapped serves the session for which the agent was started, and returns when it ends. pipe is
// the connection to the coordinator if the bootstrap's address is Stdio.
func RunBootstrapped(ctx context.Context, o AgentOptions, b launcher.Bootstrap, pipe net.Conn) error {
	s := &served{
		AgentOptions: o, session: b.Session, credentials: b.Identity.Fixed(), connect: dialer(b.Coordinator),
	}
	if len(b.Coordinator) == 1 && b.Coordinator[0] == launcher.Stdio {
		s.connect = once(pipe)
	}
	return s.run(ctx)
}

// once returns a connection for the first call and a final error afterwards: a pipe cannot be reconnected.
func once(pipe net.Conn) func(context.Context) (net.Conn, error) {
	var mu sync.Mutex
	return func(context.Context) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		if pipe == nil {
			return nil, link.Final(errors.New("the pipe to the coordinator was closed"))
		}
		conn := pipe
		pipe = nil
		return conn, nil
	}
}
