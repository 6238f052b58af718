package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"sync"

	"weir/executor/link"
	"weir/executor/trust"
)

// Inherit reads the bootstrap document, a line of its own, and gives the connection to the
// coordinator that what follows it is.
func Inherit(r io.Reader, w io.WriteCloser) (trust.Bootstrap, net.Conn, error) {
	in := bufio.NewReaderSize(r, trust.MaxBootstrap)
	line, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return trust.Bootstrap{}, nil, fmt.Errorf("reading a bootstrap document: it has no end within %d bytes",
			trust.MaxBootstrap)
	case err != nil:
		return trust.Bootstrap{}, nil, fmt.Errorf("reading a bootstrap document from standard input: %w", err)
	}
	b, err := trust.DecodeBootstrap(line)
	if err != nil {
		return trust.Bootstrap{}, nil, err
	}
	return b, link.Pipe(io.NopCloser(in), w), nil
}

// Bootstrapped serves the one session that it was started for, and ends with it. pipe is
// what leads to the coordinator if the bootstrap's address is Stdio.
func Bootstrapped(ctx context.Context, o Options, b trust.Bootstrap, pipe net.Conn) error {
	etcd, err := etcdOf(b.Etcd)
	if err != nil {
		return err
	}
	labels := b.LabelsOf(o.Node)
	maps.Copy(labels, o.Labels)
	o.Labels = labels
	s := &served{
		Options: o, session: b.Session, node: o.Node, identity: b.Identity, key: b.SessionKey, fabrics: b.Fabrics,
		etcd:  etcd,
		shell: b.Shell, secrets: b.Secrets, connect: dialer(b.Coordinator),
	}
	if len(b.Coordinator) == 1 && b.Coordinator[0] == trust.Stdio {
		s.connect = once(pipe)
	}
	return s.run(ctx)
}

// once gives a connection the first time. Its end is the end of the session: a pipe
// cannot be made again.
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
