package link

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/sync/semaphore"
	"pgregory.net/rapid"
)

func nobodyGone() error { return nil }

// Whatever pieces are acknowledged when, and from wherever the rest is sent again, the
// messages come together as they were.
func TestPiecesMakeMessages(t *testing.T) {
	data := content(4*pieceSize, 1)
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(pieceSize-2, pieceSize+2),
			rapid.IntRange(2*pieceSize-2, 3*pieceSize+2))
		out := newOutbox()
		var want, got []Message
		for range rapid.IntRange(1, 5).Draw(t, "messages") {
			m := Message{"k", data[:size.Draw(t, "head")], data[:size.Draw(t, "body")]}
			want = append(want, m)
			if err := out.put(m); err != nil {
				t.Fatal(err)
			}
		}
		out.close()
		s := &Server{
			assembly: semaphore.NewWeighted(maxAssembling), o: ServerOptions{
				Take: func(_ string, m Message) error { got = append(got, m); return nil },
			},
		}
		m := &member{}
		for {
			p, err := out.piece(m.received+1, nobodyGone)
			if err != nil {
				t.Fatal(err)
			}
			if p == nil {
				break
			}
			done, err := s.piece(t.Context(), m, p)
			if err != nil {
				t.Fatal(err)
			}
			if done && rapid.Bool().Draw(t, "acknowledged") {
				out.taken(m.received)
			}
		}
		for i, m := range got {
			if !bytes.Equal(m.Head, want[i].Head) || !bytes.Equal(m.Body, want[i].Body) {
				t.Fatalf("message %d comes as another", i)
			}
		}
		if len(got) != len(want) || !s.assembly.TryAcquire(maxAssembling) {
			t.Fatalf("%d of %d messages came, or memory is still reserved", len(got), len(want))
		}
		out.taken(m.received)
		if out.bytes != 0 || len(out.queue) != 0 {
			t.Fatalf("%d bytes are kept of what was acknowledged", out.bytes)
		}
	})
}

// Send waits while more than 64 MiB are not acknowledged, and what ends the link ends
// the wait.
func TestSendWaits(t *testing.T) {
	out := newOutbox()
	half := Message{Kind: "k", Body: make([]byte, maxUnacknowledged/2+1)}
	for range 2 {
		if err := out.put(half); err != nil {
			t.Fatal(err)
		}
	}
	put := make(chan error)
	go func() { put <- out.put(half) }()
	select {
	case <-put:
		t.Fatal("a third is taken")
	default:
	}
	out.taken(piecesOf(half.size()) - 1) // not the whole message
	if out.bytes != 2*half.size() {
		t.Fatal("half a message is forgotten")
	}
	out.taken(piecesOf(half.size()))
	if err := <-put; err != nil {
		t.Fatal(err)
	}
	why := errors.New("why")
	go func() { put <- out.put(half) }()
	out.fail(why)
	if err := <-put; err != why {
		t.Errorf("%v", err)
	}
	if _, err := newOutbox().piece(1, func() error { return why }); err != why {
		t.Errorf("%v", err)
	}
}

// A coordinator cannot make an agent send what is not there.
func TestPiecesThatAreGone(t *testing.T) {
	out := newOutbox()
	for range 3 {
		_ = out.put(Message{Kind: "k"})
	}
	out.taken(2)
	for _, number := range []uint64{0, 1, 2} {
		if p, err := out.piece(number, nobodyGone); !isRefusal(err) {
			t.Errorf("piece %d: %v %v", number, p, err)
		}
	}
	out.taken(1 << 60)
	if out.bytes != 0 || len(out.queue) != 0 {
		t.Error("something is left")
	}
}
