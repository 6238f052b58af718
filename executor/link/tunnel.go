package link

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// tunnel is a connection whose bytes travel in a call. One may read and one may write at
// a time.
type tunnel struct {
	nowhere
	call interface {
		Send(*Bytes) error
		Recv() (*Bytes, error)
	}
	end  func()
	rest []byte // of the message that came last
}

func (t *tunnel) Read(b []byte) (int, error) {
	for len(t.rest) == 0 {
		m, err := t.call.Recv()
		if err != nil {
			return 0, err
		}
		t.rest = m.Data
	}
	n := copy(b, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

func (t *tunnel) Write(b []byte) (int, error) {
	written := 0
	for part := range slices.Chunk(b, pieceSize) {
		if err := t.call.Send(&Bytes{Data: bytes.Clone(part)}); err != nil {
			return written, err
		}
		written += len(part)
	}
	return written, nil
}

// Close ends the call; what was written last may not arrive.
func (t *tunnel) Close() error { t.end(); return nil }

// maxAnswer is how much is told of why etcd is not reached.
const maxAnswer = 1 << 10

// Tunnel connects an agent with etcd until one of them ends.
func (c calls) Tunnel(call grpc.BidiStreamingServer[Bytes, Bytes]) error {
	s, p := c.s, peerOf(call.Context())
	if !p.known.Load() {
		err := errors.New("it asks for etcd before it has said who it is")
		p.end(err)
		return status.Error(codes.PermissionDenied, err.Error())
	}
	if s.o.Etcd == nil {
		return status.Error(codes.FailedPrecondition, "the coordinator has no etcd for agents")
	}
	opening, cancel := context.WithTimeout(call.Context(), s.patience)
	etcd, err := s.o.Etcd(opening)
	cancel()
	if err != nil {
		text := err.Error()
		return status.Error(codes.Unavailable, text[:min(len(text), maxAnswer)])
	}
	defer etcd.Close()
	if err := call.Send(&Bytes{}); err != nil {
		return err
	}
	t := &tunnel{call: call}
	s.wg.Go(func() { // until the call ends, at the latest with this function
		_, _ = io.Copy(etcd, t)
		etcd.Close()
	})
	_, _ = io.Copy(t, etcd)
	return nil
}

var _ net.Conn = (*tunnel)(nil)
