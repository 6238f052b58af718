package link

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/protobuf/proto"

	"weir/executor/trust"
)

// maxEnrol is the longest request, and the longest answer, in bytes. Who enrols has shown
// no certificate: this is all that is read of a stranger.
const maxEnrol = 32 << 10

// Enrol asks for a node's certificate with a join token, over a connection to the
// coordinator that is closed afterwards. The key never leaves this process.
func Enrol(ctx context.Context, conn net.Conn, t trust.Token, token string, node string) (trust.Identity, error) {
	defer conn.Close()
	i, err := enrol(ctx, conn, t, token, node)
	if err != nil {
		return trust.Identity{}, fmt.Errorf("enrolling node %s: %w", node, err)
	}
	return i, nil
}

func enrol(ctx context.Context, conn net.Conn, t trust.Token, token, node string) (i trust.Identity, err error) {
	config, err := t.TLS()
	if err != nil {
		return i, err
	}
	config.NextProtos = []string{enrolProtocol}
	key, csr, err := trust.NewRequest(node)
	if err != nil {
		return i, err
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		if isAlert(err) {
			return i, fmt.Errorf("the coordinator enrols nobody: %w", err)
		}
		return i, err
	}
	var reply EnrolReply
	if err := within(ctx, conn, func() error {
		if err := writeProto(secured, &EnrolRequest{Token: token, Request: csr}); err != nil {
			return err
		}
		return readProto(secured, &reply)
	}); err != nil {
		return i, err
	}
	if reply.Refusal != "" {
		return i, fmt.Errorf("the coordinator refuses: %.1000s", reply.Refusal)
	}
	i = trust.Identity{CA: t.CA, Certificate: reply.Certificate, Key: key}
	if role, name, err := i.Role(); err != nil || role != trust.Agent || name != node {
		return trust.Identity{}, errors.Join(fmt.Errorf("the coordinator gave a certificate of %s %q", role, name), err)
	}
	return i, nil
}

// enrol answers one request.
func (s *Server) enrol(conn net.Conn) {
	var request EnrolRequest
	if readProto(conn, &request) != nil {
		return
	}
	var reply EnrolReply
	cert, err := s.o.Authority.Enrol(request.Token, request.Request, time.Now())
	if err != nil {
		reply.Refusal = err.Error()
		reply.Refusal = reply.Refusal[:min(len(reply.Refusal), 1000)]
	} else {
		reply.Certificate = cert
	}
	if writeProto(conn, &reply) == nil {
		_, _ = conn.Read(make([]byte, 1)) // the newcomer closes, so that our answer is not lost behind a reset
	}
}

func writeProto(w io.Writer, m proto.Message) error {
	b, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

func readProto(r io.Reader, m proto.Message) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxEnrol {
		return fmt.Errorf("a message of %d bytes: %d are the most", n, maxEnrol)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	return proto.Unmarshal(b, m)
}
