package link

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// The first byte of a stream says what it is.
const (
	streamAttach = 'a'
	streamEtcd   = 'e'
)

// The answer to a stream to etcd: two bytes with the length of what went wrong, 0 if
// nothing did, and the text.
const maxAnswer = 1 << 10

func writeAnswer(conn net.Conn, failed error) error {
	text := ""
	if failed != nil {
		text = failed.Error()
		text = text[:min(len(text), maxAnswer)]
		if text == "" {
			text = "it does not say why"
		}
	}
	_, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...))
	return err
}

func readAnswer(conn net.Conn) error {
	var head [2]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint16(head[:])
	if n == 0 {
		return nil
	}
	if n > maxAnswer {
		return errors.New("the coordinator's answer is too long")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(conn, text); err != nil {
		return err
	}
	return refused("%s", text)
}

// splice connects an agent's stream with etcd until one of them ends; what came before
// the end is passed on. HTTP/2, which is spoken over it, does not close one direction.
func (s *Server) splice(ctx context.Context, stream net.Conn) {
	if s.o.Etcd == nil {
		_ = writeAnswer(stream, errors.New("the coordinator has no etcd for agents"))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	etcd, err := s.o.Etcd(ctx)
	cancel()
	if err != nil {
		_ = writeAnswer(stream, err)
		return
	}
	defer etcd.Close()
	if writeAnswer(stream, nil) != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(stream, etcd)
		stream.Close()
	}()
	_, _ = io.Copy(etcd, stream)
	etcd.Close()
	<-back
}
