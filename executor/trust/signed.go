package trust

import (
	"encoding/binary"
	"errors"
)

// What a signature is for. A text that is signed begins with one of these, so that a
// signature of one kind is none of another.
const (
	forToken      = "weir join token 1"
	forSession    = "weir session 1"
	forInvitation = "weir invitation 1"
)

// join writes fields one after the other, each with its length (4 bytes, big endian):
// other fields never give the same bytes.
func join(fields ...[]byte) []byte {
	n := 0
	for _, f := range fields {
		n += 4 + len(f)
	}
	b := make([]byte, 0, n)
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

var errCut = errors.New("it is cut short or damaged")

// split reads as many fields as there must be, and nothing else. The fields are parts
// of b.
func split(b []byte, count int) ([][]byte, error) {
	fields := make([][]byte, count)
	for i := range fields {
		if len(b) < 4 {
			return nil, errCut
		}
		n := binary.BigEndian.Uint32(b)
		if b = b[4:]; uint64(n) > uint64(len(b)) {
			return nil, errCut
		}
		fields[i], b = b[:n:n], b[n:]
	}
	if len(b) > 0 {
		return nil, errCut
	}
	return fields, nil
}

// Subject is what a signature is about. A signature about one subject is none about
// another, so what was said about a node or a task fits nowhere else.
type Subject struct{ Session, Node, Name string }

// signedText is what is signed of a body.
func (s Subject) signedText(purpose string, more ...[]byte) []byte {
	fields := [][]byte{[]byte(purpose), []byte(s.Session), []byte(s.Node), []byte(s.Name)}
	return join(append(fields, more...)...)
}
