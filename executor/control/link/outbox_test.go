package link

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// Whatever pieces are acknowledged when, and from wherever the rest is sent again on a new
// connection, the messages come together as they were.
func TestPiecesMakeMessages(t *testing.T) {
	data := content(4*pieceSize, 1)
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(pieceSize-2, pieceSize+2),
			rapid.IntRange(2*pieceSize-2, 3*pieceSize+2))
		out := newOutbox()
		var want, got []Message
		for range rapid.IntRange(1, 8).Draw(t, "messages") {
			m := Message{data[:size.Draw(t, "head")], data[:size.Draw(t, "body")]}
			want = append(want, m)
			if err := out.put(m); err != nil {
				t.Fatal(err)
			}
		}
		out.close()
		back := newOutbox() // of acknowledgements
		in := &inbox{out: back, take: func(m Message) error { got = append(got, m); return nil }}
		for said := false; !said; {
			said = connected(t, out, back, in)
		}
		for i, m := range got {
			if !bytes.Equal(m.Head, want[i].Head) || !bytes.Equal(m.Body, want[i].Body) {
				t.Fatalf("message %d comes as another", i)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d of %d messages came", len(got), len(want))
		}
		if out.taken != out.total || len(out.queue) != 0 {
			t.Fatalf("%d bytes are kept of what was acknowledged", out.total-out.taken)
		}
	})
}

// connected carries what two sides say until the connection breaks, or until all was said
// and acknowledged.
func connected(t *rapid.T, out, back *outbox, in *inbox) bool {
	there, err := out.resume(in.received)
	if err != nil {
		t.Fatal(err)
	}
	here, err := back.resume(0)
	if err != nil {
		t.Fatal(err)
	}
	for rapid.IntRange(0, 20).Draw(t, "breaks") > 0 {
		<-in.idle()
		if back.pendingAck.piece > here.acked && rapid.Bool().Draw(t, "acknowledged") {
			w, err := here.nextFrame()
			if err != nil || w.Taken == 0 {
				t.Fatal(w, err)
			}
			if rapid.Bool().Draw(t, "lost") {
				return false
			}
			if err := there.taken(w.Taken); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if there.next < out.next && there.next == there.message().first &&
			there.message().before-out.taken > maxAhead { // it waits for an acknowledgement
			continue
		}
		w, err := there.nextFrame()
		if err != nil {
			t.Fatal(err)
		}
		if w == nil || w.Piece == nil {
			return out.taken == out.total
		}
		if rapid.IntRange(0, 20).Draw(t, "lost") == 0 {
			return false
		}
		if err := in.piece(t.Context(), w.Piece, w.Data); err != nil {
			t.Fatal(err)
		}
	}
	return false
}

// Send waits while more than 64 MiB are not acknowledged, and what ends the link ends
// the wait.
func TestSendWaits(t *testing.T) {
	out := newOutbox()
	half := Message{Body: make([]byte, maxReports/2+1)}
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
	l, err := out.resume(0)
	if err != nil {
		t.Fatal(err)
	}
	pieces := piecesOf(half.size())
	for range pieces {
		if _, err := l.nextFrame(); err != nil {
			t.Fatal(err)
		}
	}
	taken := func(number uint64) {
		t.Helper()
		if err := l.taken(number); err != nil {
			t.Fatal(err)
		}
	}
	taken(pieces - 1) // not the whole message
	if out.taken > 0 {
		t.Fatal("half a message is forgotten")
	}
	taken(pieces)
	if err := <-put; err != nil {
		t.Fatal(err)
	}
	why := errors.New("why")
	go func() { put <- out.put(half) }()
	out.fail(why)
	if err := <-put; err != why {
		t.Errorf("%v", err)
	}
	if _, err := l.nextFrame(); err != why {
		t.Errorf("%v", err)
	}
}

// No side can make the other send what is not there, or forget what was not sent.
func TestPiecesThatAreGone(t *testing.T) {
	out := newOutbox()
	for range 4 {
		_ = out.put(Message{})
	}
	l, err := out.resume(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := l.nextFrame(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.taken(2); err != nil {
		t.Fatal(err)
	}
	if err := l.taken(4); err == nil {
		t.Error("a piece is acknowledged that was not sent")
	}
	for received, ok := range map[uint64]bool{0: false, 1: false, 2: true, 3: true, 4: false, 1<<64 - 1: false} {
		if _, err := out.resume(received); (err == nil) != ok {
			t.Errorf("after %d pieces: %v", received, err)
		}
	}
}

// A message starts only when those before it, but for 1 MiB, are acknowledged.
func TestNoMessageStartsFarAhead(t *testing.T) {
	out := newOutbox()
	m := Message{Body: make([]byte, pieceSize)}
	for range 2 + maxAhead/pieceSize {
		_ = out.put(m)
	}
	l, err := out.resume(0)
	if err != nil {
		t.Fatal(err)
	}
	said := uint64(0)
	for ; int64(said)*costOf(pieceSize) <= maxAhead; said++ {
		if w, err := l.nextFrame(); err != nil || w.Piece.Number != said+1 {
			t.Fatal(w, err)
		}
	}
	next := make(chan *frame)
	go func() { w, _ := l.nextFrame(); next <- w }()
	select {
	case <-next:
		t.Fatal("it starts")
	default:
	}
	if err := l.taken(1); err != nil {
		t.Fatal(err)
	}
	if w := <-next; w.Piece.Number != said+1 {
		t.Error(w)
	}
}
