package link

import (
	"bytes"
	"testing"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"
)

// No sequence of words makes the coordinator take what is no message, or hold more than
// the longest one.
func FuzzPieces(f *testing.F) {
	encode := func(words ...*FromAgent) []byte {
		var b []byte
		for _, w := range words {
			one, err := proto.Marshal(w)
			if err != nil {
				f.Fatal(err)
			}
			b = append(append(b, byte(len(one))), one...)
		}
		return b
	}
	f.Add(encode(piece(1, &Start{Kind: "k", Body: 3}, 3), piece(2, &Start{Kind: "k", Head: 1}, 1)))
	f.Add(encode(piece(1, &Start{Kind: "k", Body: 1 << 31, Head: 1 << 31}, 3)))
	f.Add(encode(piece(1, &Start{Kind: "k", Body: MaxBody}, 3)))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &Server{assembly: semaphore.NewWeighted(maxAssembling)}
		s.o.Take = func(_ string, m Message) error {
			if err := checkSizes(len(m.Kind), len(m.Head), len(m.Body)); err != nil {
				t.Error(err)
			}
			return nil
		}
		m := &member{}
		for len(b) > 0 {
			n := min(int(b[0]), len(b)-1)
			var word FromAgent
			if err := proto.Unmarshal(b[1:1+n], &word); err == nil && word.GetPiece() != nil {
				if _, err := s.piece(t.Context(), m, word.GetPiece()); err != nil {
					m.assembled.drop(s.assembly)
					break
				}
			}
			b = b[1+n:]
		}
		if m.assembled == nil && !s.assembly.TryAcquire(maxAssembling) {
			t.Error("memory is reserved for no message")
		}
	})
}

// What a stranger sends who asks for a certificate is read within bounds.
func FuzzEnrolRequest(f *testing.F) {
	b, err := proto.Marshal(&EnrolRequest{Token: "weir-join-1.", Request: []byte("x")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte{0, 0, 0, byte(len(b))}, b...))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r EnrolRequest
		if err := readProto(bytes.NewReader(b), &r); err == nil && proto.Size(&r) > maxEnrol {
			t.Errorf("%d bytes are taken", proto.Size(&r))
		}
	})
}
