// Package wire is the protocol of an agent and its ranks over a socket pair: frames of kind, length and body. Ranks
// run third-party libraries and may write anything, so all lengths and contents are checked.
package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Kind is the kind of a frame.
type Kind byte

// The kinds, in order: Launch, Address, Peers, Connected, Go, a Result for each case, Bye. A rank may send Failure
// instead of any of its messages.
const (
	KindLaunch    Kind = 'L' // to the rank
	KindPeers     Kind = 'P' // to the rank: all addresses
	KindGo        Kind = 'G' // to the rank: all ranks are connected
	KindAddress   Kind = 'a'
	KindConnected Kind = 'c'
	KindResult    Kind = 'r'
	KindFailure   Kind = 'f'
	KindBye       Kind = 'b'
)

// limits are the longest bodies of each kind, in bytes.
var limits = map[Kind]uint32{
	KindLaunch:    MaxLaunch + 1<<20, // and the rank's identity
	KindPeers:     128 << 20,
	KindGo:        0,
	KindAddress:   64 << 10,
	KindConnected: 0,
	KindResult:    32 << 20,
	KindFailure:   64 << 10,
	KindBye:       0,
}

func (k Kind) String() string {
	names := map[Kind]string{
		KindLaunch: "launch", KindPeers: "peers", KindGo: "go", KindAddress: "address",
		KindConnected: "connected", KindResult: "result", KindFailure: "failure", KindBye: "bye",
	}
	if n, ok := names[k]; ok {
		return n
	}
	return fmt.Sprintf("unknown message %#02x", byte(k))
}

// Frame is one message.
type Frame struct {
	Kind Kind
	Body []byte
}

// Conn carries messages between an agent and a rank.
type Conn interface {
	Send(kind Kind, body ...[]byte) error
	Receive() (Frame, error) // io.EOF: the other side sends no more
}

// Over is a Conn over a stream of bytes.
func Over(stream io.ReadWriter) Conn { return streamConn{stream} }

type streamConn struct{ stream io.ReadWriter }

func (f streamConn) Send(kind Kind, body ...[]byte) error { return Write(f.stream, kind, body...) }
func (f streamConn) Receive() (Frame, error)              { return Read(f.stream) }

// NewFrame returns a frame of a body in pieces; a single piece is not copied.
func NewFrame(kind Kind, body ...[]byte) (Frame, error) {
	if _, err := sizeOf(kind, body); err != nil {
		return Frame{}, err
	}
	if len(body) == 1 {
		return Frame{kind, body[0]}, nil
	}
	return Frame{kind, bytes.Join(body, nil)}, nil
}

// sizeOf is the length of a body in pieces, or an error if it exceeds the limit.
func sizeOf(kind Kind, body [][]byte) (uint32, error) {
	size := uint64(0)
	for _, piece := range body {
		size += uint64(len(piece))
	}
	limit, ok := limits[kind]
	if !ok || size > uint64(limit) {
		return 0, fmt.Errorf("%s of %d bytes: at most %d are allowed", kind, size, limit)
	}
	return uint32(size), nil
}

const headerSize = 5

// Write writes a frame of a body in pieces: short ones in one call, long ones, which many ranks get, without a copy.
func Write(w io.Writer, kind Kind, body ...[]byte) error {
	size, err := sizeOf(kind, body)
	if err != nil {
		return err
	}
	head := append(make([]byte, 0, headerSize), byte(kind))
	head = binary.BigEndian.AppendUint32(head, size)
	frame := net.Buffers(append([][]byte{head}, body...))
	if size <= maxCopied {
		frame = net.Buffers{bytes.Join(frame, nil)}
	}
	_, err = frame.WriteTo(w)
	return err
}

// maxCopied is the longest body that is written in one call, in bytes.
const maxCopied = 64 << 10

// ErrGarbage is the error of bytes that are no frame.
var ErrGarbage = errors.New("not a message of the rank protocol")

// Read reads a frame. It returns io.EOF only between frames.
func Read(r io.Reader) (Frame, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Frame{}, fmt.Errorf("%w: cut short", ErrGarbage)
		}
		return Frame{}, err
	}
	f := Frame{Kind: Kind(head[0])}
	n := binary.BigEndian.Uint32(head[1:])
	limit, ok := limits[f.Kind]
	if !ok || n > limit {
		return Frame{}, fmt.Errorf("%w: % x…", ErrGarbage, head)
	}
	body, err := readBody(r, n)
	if err != nil {
		return Frame{}, fmt.Errorf("%w: %s cut short", ErrGarbage, f.Kind)
	}
	f.Body = body
	return f, nil
}

// readBody allocates memory as bytes arrive, because the length in the header is not trusted.
func readBody(r io.Reader, n uint32) ([]byte, error) {
	const piece = 1 << 20
	body := make([]byte, 0, min(n, piece))
	for uint32(len(body)) < n {
		from := len(body)
		step := int(min(n-uint32(from), piece))
		body = append(body, make([]byte, step)...)
		if _, err := io.ReadFull(r, body[from:]); err != nil {
			return nil, err
		}
	}
	return body, nil
}
