// Package wire is what an agent and its ranks say to each other over a socket
// pair: frames of a kind, a length and a body. A rank runs other people's
// libraries and may write anything, so the agent's side bounds and checks all
// that it reads; nothing here trusts a length.
package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Kind says what a frame is.
type Kind byte

// The kinds. A conversation is: Launch, Address, Peers, Connected, Go, a Result
// for each case, Bye; or Failure instead of anything that a rank says.
const (
	KindLaunch    Kind = 'L' // to the rank: what to do
	KindPeers     Kind = 'P' // to the rank: the addresses of all
	KindGo        Kind = 'G' // to the rank: all are connected
	KindAddress   Kind = 'a'
	KindConnected Kind = 'c'
	KindResult    Kind = 'r'
	KindFailure   Kind = 'f'
	KindBye       Kind = 'b'
)

// limits are the longest bodies of each kind.
var limits = map[Kind]uint32{
	KindLaunch:    MaxLaunch + 1<<20, // a launch, and who the rank is
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
	Receive() (Frame, error) // io.EOF when no more will come
}

// Over carries messages over a stream of bytes.
func Over(stream io.ReadWriter) Conn { return framed{stream} }

type framed struct{ stream io.ReadWriter }

func (f framed) Send(kind Kind, body ...[]byte) error { return Write(f.stream, kind, body...) }
func (f framed) Receive() (Frame, error)              { return Read(f.stream) }

// NewFrame is a frame whose body may come in pieces, of which it makes no copy if there is
// only one.
func NewFrame(kind Kind, body ...[]byte) (Frame, error) {
	if _, err := sizeOf(kind, body); err != nil {
		return Frame{}, err
	}
	if len(body) == 1 {
		return Frame{kind, body[0]}, nil
	}
	return Frame{kind, bytes.Join(body, nil)}, nil
}

// sizeOf is the length of a body in pieces, if it is allowed.
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

// Write writes a frame whose body may come in pieces. A short one is written in one
// call, so that it is never seen in halves; of a long one, which is told to many ranks
// at a time, no copy is made.
func Write(w io.Writer, kind Kind, body ...[]byte) error {
	size, err := sizeOf(kind, body)
	if err != nil {
		return err
	}
	head := append(make([]byte, 0, headerSize), byte(kind))
	head = binary.BigEndian.AppendUint32(head, size)
	frame := net.Buffers(append([][]byte{head}, body...))
	if size <= mostCopied {
		frame = net.Buffers{bytes.Join(frame, nil)}
	}
	_, err = frame.WriteTo(w)
	return err
}

// mostCopied is the longest body that is copied to be written in one call.
const mostCopied = 64 << 10

// ErrGarbage says that what came is not a frame.
var ErrGarbage = errors.New("not a message of the rank protocol")

// Read reads a frame. It is io.EOF only between frames.
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

// readBody takes memory as the bytes come, not as the header promises them.
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
