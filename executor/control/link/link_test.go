package link

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func content(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(b)
	return b
}

func TestMessagesArrive(t *testing.T) {
	s := serve(t, nil, limit)
	l := dial(t, s.options(t, "n1"))
	want := []string{"up n1 i1"}
	for i, size := range [][2]int{
		{0, 0}, {1, 0}, {0, 1}, {pieceSize, 0}, {0, pieceSize}, {pieceSize - 1, 1}, {pieceSize - 1, 2}, {1, pieceSize},
		{1, pieceSize - 1},
		{pieceSize + 1, 3*pieceSize - 1}, {MaxHead, 5 * pieceSize}, {3, 2*pieceSize + 7}, {MaxHead, 0},
	} {
		m := Message{Head: content(size[0], uint64(i)), Body: content(size[1], uint64(i+100))}
		if err := l.Send(m); err != nil {
			t.Fatal(err)
		}
		want = append(want, "took n1 "+digest(m))
	}
	if err := goodbye(l); err != nil {
		t.Fatal(err)
	}
	want = append(want, "down n1 <nil>")
	if got := s.seen(); !slices.Equal(got, want) { // Close returns after Down
		t.Errorf("%q\nwant %q", got, want)
	}
	if err := lost(t, l); err != nil {
		t.Errorf("an end in order has the cause %v", err)
	}
	if err := l.Send(Message{Head: []byte("late")}); err == nil {
		t.Error("a closed link takes a message")
	}
}

func TestMessagesThatAreTooLong(t *testing.T) {
	s := serve(t, nil, limit)
	l := dial(t, s.options(t, "n1"))
	for _, m := range []Message{
		{Head: make([]byte, MaxHead+1)}, {Body: make([]byte, MaxBody+1)},
	} {
		if err := l.Send(m); err == nil {
			t.Errorf("a message of %d and %d bytes is sent", len(m.Head), len(m.Body))
		}
		if err := s.Send("n1", m); err == nil || !strings.Contains(err.Error(), "are allowed") {
			t.Errorf("an order of %d and %d bytes: %v", len(m.Head), len(m.Body), err)
		}
	}
}

func TestTheSessionEnds(t *testing.T) {
	s := serve(t, nil, limit)
	l := dial(t, s.options(t, "n1"))
	s.Close()
	if err := lost(t, l); err == nil || !strings.Contains(err.Error(), "the session is over") {
		t.Errorf("%v", err)
	}
	if got := s.seen(); len(got) != 1 {
		t.Errorf("after Close: %q", got)
	}
	if _, err := s.Listen("127.0.0.1:0"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("listens after its end: %v", err)
	}
}

// The coordinator that dies is lost, and what was not delivered is an error of Close.
func TestTheCoordinatorDies(t *testing.T) {
	const silence = 300 * time.Millisecond
	s := serve(t, nil, limit)
	o := s.options(t, "n1")
	o.Silence = silence
	dead := false
	var mu sync.Mutex
	var conn net.Conn
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		if dead {
			return nil, errors.New("connection refused")
		}
		var err error
		conn, err = s.connect(ctx)
		return conn, err
	}
	l := dial(t, o)
	mu.Lock()
	dead = true
	conn.Close()
	mu.Unlock()
	if err := goodbye(l); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v", err)
	}
}

func TestCloseGivesUp(t *testing.T) {
	hold := make(chan struct{})
	s := serve(t, func(o *ServerOptions) { o.Take = func(string, Message) error { <-hold; return nil } }, limit)
	l := dial(t, s.options(t, "n1"))
	if err := l.Send(Message{Head: []byte("k")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(hold)
}

// A link works over the two ends of pipes, as ssh gives them.
func TestOverPipes(t *testing.T) {
	s := serve(t, nil, limit)
	overPipes(t, s, s.options(t, "n1"), func() {})
}

// A pipe is one attempt to connect. On a starved host it may take longer than a stranger, or a peer that was there.
func TestOverAPipeOfAStarvedHost(t *testing.T) {
	const silence = 600 * time.Millisecond
	s := serve(t, func(o *ServerOptions) { o.Silence = silence }, silence/6)
	o := s.options(t, "n1")
	o.Silence = silence
	overPipes(t, s, o, sync.OnceFunc(func() { time.Sleep(2 * silence) }))
}

// overPipes attaches an agent, sends a message and leaves. before is called before each write of the coordinator.
func overPipes(t *testing.T, s *side, o Options, before func()) {
	t.Helper()
	served := make(chan struct{})
	o.Connect = func(context.Context) (net.Conn, error) {
		toServer, fromAgent, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		toAgent, fromServer, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		go func() { defer close(served); s.Serve(Pipe(toServer, late{fromServer, before})) }()
		return Pipe(toAgent, fromAgent), nil
	}
	l := dial(t, o)
	m := Message{Head: []byte("k"), Body: content(3<<20, 1)}
	if err := l.Send(m); err != nil {
		t.Fatal(err)
	}
	if err := goodbye(l); err != nil {
		t.Fatal(err)
	}
	if got := s.wait(t, "down n1 <nil>"); got[1] != "took n1 "+digest(m) {
		t.Errorf("%q", got)
	}
	<-served
}

// Close of a pipe does not wait for a read that nothing interrupts.
func TestAPipeThatNobodyWrites(t *testing.T) {
	release := make(chan struct{})
	p := Pipe(io.NopCloser(readerFunc(func([]byte) (int, error) { <-release; return 0, io.EOF })),
		nopCloser{io.Discard})
	read := make(chan error, 1)
	go func() { _, err := p.Read(make([]byte, 1)); read <- err }()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
	close(release)
}

// late calls a function before each write.
type late struct {
	io.WriteCloser
	before func()
}

func (l late) Write(b []byte) (int, error) {
	l.before()
	return l.WriteCloser.Write(b)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
