package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxName is the longest name of a node or launch, in bytes.
const maxName = 250

// Lend opens a connection to the part of the session's etcd for the programs of a launch. It waits for a
// connection to the coordinator, and breaks with it.
func (l *Link) Lend(ctx context.Context, name string) (net.Conn, error) {
	conn, err := l.lend(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("reaching etcd for launch %.80q through the coordinator: %w", name, err)
	}
	return conn, nil
}

func (l *Link) lend(ctx context.Context, name string) (net.Conn, error) {
	for {
		l.mu.Lock()
		c, changed := l.current, l.changed
		l.mu.Unlock()
		if c != nil {
			conn, err := c.lend(ctx, name)
			if err == nil || isRefusal(err) || ctx.Err() != nil {
				return conn, err
			}
		}
		select {
		case <-changed:
		case <-l.lost:
			return nil, errors.Join(errClosed, l.Cause())
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (c *connection) lend(ctx context.Context, name string) (net.Conn, error) {
	life, end := context.WithCancel(c.life)
	opening := context.AfterFunc(ctx, end)
	call, err := call(life, c.client, lendCall)
	if err == nil {
		_ = call.Send(&frame{Borrow: name}) // Recv returns its error
		_, err = call.Recv()                // an empty frame: the connection is open
	}
	if !opening() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return &loan{call: call, end: end}, nil
	}
	end()
	if cause := c.why(); cause != nil {
		err = cause
	} else if ctx.Err() == nil {
		err = refused("%s", status.Convert(err).Message())
	}
	return nil, err
}

// maxAnswer is the longest error about etcd in an answer, in bytes.
const maxAnswer = 1 << 10

// lend connects an agent to etcd until one of them ends.
func (s *Server) lend(call frames) error {
	p := peerOf(call.Context())
	m := p.member.Load()
	if m == nil {
		err := errors.New("it asks for etcd before hello")
		p.end(err)
		return status.Error(codes.PermissionDenied, err.Error())
	}
	first, err := call.Recv()
	if err != nil {
		return err
	}
	if !validName(first.Borrow, maxName) {
		return status.Errorf(codes.InvalidArgument, "%.80q is not a valid name of a launch", first.Borrow)
	}
	if s.o.Lend == nil {
		return status.Error(codes.FailedPrecondition, "the coordinator has no etcd to lend")
	}
	opening, cancel := context.WithTimeout(call.Context(), s.helloTimeout)
	etcd, err := s.o.Lend(opening, m.node, first.Borrow)
	cancel()
	if err != nil {
		text := err.Error()
		return status.Error(codes.Unavailable, text[:min(len(text), maxAnswer)])
	}
	defer etcd.Close()
	if err := call.Send(&frame{}); err != nil {
		return err
	}
	l := &loan{call: call}
	s.wg.Go(func() { // ends with the call
		_, _ = io.Copy(etcd, l)
		etcd.Close()
	})
	_, _ = io.Copy(l, etcd)
	return nil
}

// loan is a net.Conn over a call, for one reading and one writing goroutine.
type loan struct {
	noAddress
	call frames
	end  func()
	rest []byte // of the last message
}

var _ net.Conn = (*loan)(nil)

func (l *loan) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		m, err := l.call.Recv()
		if err != nil {
			return 0, err
		}
		l.rest = m.Data
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *loan) Write(b []byte) (int, error) {
	written := 0
	for part := range slices.Chunk(b, pieceSize) {
		if err := l.call.Send(&frame{Data: bytes.Clone(part)}); err != nil {
			return written, err
		}
		written += len(part)
	}
	return written, nil
}

// Close ends the call; the last written bytes may be lost.
func (l *loan) Close() error { l.end(); return nil }
