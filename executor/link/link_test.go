package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
		{0, 0}, {1, 0}, {0, 1}, {pieceSize, 0}, {0, pieceSize}, {pieceSize - 1, 1}, {pieceSize - 1, 2}, {1, pieceSize}, {1, pieceSize - 1},
		{pieceSize + 1, 3*pieceSize - 1}, {MaxHead, 5 * pieceSize}, {3, 2*pieceSize + 7}, {MaxHead, 0},
	} {
		m := Message{Kind: fmt.Sprint("k", i), Head: content(size[0], uint64(i)), Body: content(size[1], uint64(i+100))}
		if err := l.Send(m); err != nil {
			t.Fatal(err)
		}
		want = append(want, "took n1 "+digest(m))
	}
	if err := goodbye(l); err != nil {
		t.Fatal(err)
	}
	want = append(want, "down n1 <nil>")
	if got := s.seen(); !slices.Equal(got, want) { // Close returns when Down has heard
		t.Errorf("%q\nwant %q", got, want)
	}
	if err := lost(t, l); err != nil {
		t.Errorf("an end in order has the cause %v", err)
	}
	if err := l.Send(Message{Kind: "late"}); err == nil {
		t.Error("a closed link takes a message")
	}
}

func TestMessagesThatAreTooLong(t *testing.T) {
	s := serve(t, nil, limit)
	l := dial(t, s.options(t, "n1"))
	for _, m := range []Message{
		{}, {Kind: strings.Repeat("k", MaxKind+1)}, {Kind: "k", Head: make([]byte, MaxHead+1)}, {Kind: "k", Body: make([]byte, MaxBody+1)},
	} {
		if err := l.Send(m); err == nil {
			t.Errorf("a message of %d, %d and %d bytes is sent", len(m.Kind), len(m.Head), len(m.Body))
		}
	}
}

// cutter is a way to the coordinator that breaks after some bytes in either direction.
type cutter struct {
	net.Conn
	left *atomic.Int64
}

func (c *cutter) count(n int, err error) (int, error) {
	if c.left.Add(-int64(n)) < 0 {
		c.Conn.Close()
		return n, errors.Join(err, errors.New("cut"))
	}
	return n, err
}

func (c *cutter) Read(b []byte) (int, error)  { return c.count(c.Conn.Read(b)) }
func (c *cutter) Write(b []byte) (int, error) { return c.count(c.Conn.Write(b)) }

// Messages, the longest among them, come in order and once while the connection breaks
// at random moments, in the middle of handshakes and goodbyes too.
func TestNothingIsLostWhenConnectionsBreak(t *testing.T) {
	s := serve(t, nil, limit)
	random := rand.New(rand.NewPCG(7, 7))
	var mu sync.Mutex
	cuts := 0
	o := s.options(t, "n1")
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		conn, err := s.connect(ctx)
		mu.Lock()
		defer mu.Unlock()
		cuts++
		left := &atomic.Int64{}
		left.Store(random.Int64N(1 << (10 + random.Int64N(16)))) // from nothing to 32 MiB
		return &cutter{conn, left}, err
	}
	l := dial(t, o)
	want := []string{"up n1 i1"}
	long := content(MaxBody, 1)
	for i := range 60 {
		m := Message{Kind: fmt.Sprint("k", i), Head: content(i, 3), Body: content(i*i*1000, uint64(i))}
		if i%20 == 10 {
			m.Body = long
		}
		if err := l.Send(m); err != nil {
			t.Fatal(err)
		}
		want = append(want, "took n1 "+digest(m))
	}
	if err := goodbye(l); err != nil && !strings.Contains(err.Error(), "said goodbye") {
		t.Fatal(err)
	}
	got := s.wait(t, "down")
	want = append(want, "down n1 <nil>")
	if !slices.Equal(got, want) {
		t.Errorf("%d events, want %d:\n%.2000q", len(got), len(want), got)
	}
	t.Logf("%d connections", cuts)
	if cuts < 5 {
		t.Errorf("only %d connections were made", cuts)
	}
}

// frozen is a way on which, from a moment on, nothing passes and nothing is said of it.
type frozen struct {
	net.Conn
	ice, closed chan struct{}
	once        sync.Once
}

func (f *frozen) frozen() bool {
	select {
	case <-f.ice:
		<-f.closed
		return true
	default:
		return false
	}
}

func (f *frozen) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	if f.frozen() {
		return 0, net.ErrClosed
	}
	return n, err
}

func (f *frozen) Write(b []byte) (int, error) {
	if f.frozen() {
		return 0, net.ErrClosed
	}
	return f.Conn.Write(b)
}

func (f *frozen) Close() error {
	f.once.Do(func() { close(f.closed) })
	select {
	case <-f.ice: // a host that is cut off tells nobody
		return nil
	default:
		return f.Conn.Close()
	}
}

// A peer that falls silent, without an end of the connection, is down for the
// coordinator, and the coordinator lost for the agent.
func TestSilenceIsTheEnd(t *testing.T) {
	const silence = 500 * time.Millisecond
	s := serve(t, func(o *ServerOptions) { o.Silence = silence }, limit)
	o := s.options(t, "n1")
	o.Silence = silence
	ice := make(chan struct{})
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		select {
		case <-ice:
			<-ctx.Done()
			return nil, ctx.Err()
		default:
		}
		conn, err := s.connect(ctx)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		}
		return &frozen{Conn: conn, ice: ice, closed: make(chan struct{})}, err
	}
	l := dial(t, o)
	begin := time.Now()
	close(ice)
	if err := lost(t, l); err == nil || !strings.Contains(err.Error(), "nothing was heard") {
		t.Errorf("the agent: %v", err)
	}
	atAgent := time.Since(begin)
	events := s.wait(t, "down")
	atCoordinator := time.Since(begin)
	if last := events[len(events)-1]; !strings.Contains(last, "nothing was heard of the node for 500ms") {
		t.Error(last)
	}
	// the last that was heard may be a beat before; how late it is, a busy machine decides
	if least := silence - paceOf(silence).beat; atAgent < least || atCoordinator < least {
		t.Errorf("lost after %s, down after %s, want at least %s", atAgent, atCoordinator, least)
	}
	t.Logf("lost after %s, down after %s", atAgent, atCoordinator)
}

// A break that is shorter than the silence is none: nobody hears of it.
func TestABreakIsNotTheEnd(t *testing.T) {
	s := serve(t, nil, limit)
	o := s.options(t, "n1")
	conns := make(chan net.Conn, 10)
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		conn, err := s.connect(ctx)
		conns <- conn
		return conn, err
	}
	l := dial(t, o)
	for i := range 5 {
		(<-conns).Close()
		if err := l.Send(Message{Kind: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		s.wait(t, fmt.Sprintf("took n1 %d ", i))
	}
	if err := goodbye(l); err != nil {
		t.Fatal(err)
	}
	if got := s.seen(); len(got) != 7 {
		t.Errorf("%q", got)
	}
}

func TestTheSessionEnds(t *testing.T) {
	s := serve(t, nil, limit)
	l := dial(t, s.options(t, "n1"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
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
	if err := l.Send(Message{Kind: "k"}); err != nil {
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
	o := s.options(t, "n1")
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
		go func() { defer close(served); s.Serve(Pipe(toServer, fromServer)) }()
		return Pipe(toAgent, fromAgent), nil
	}
	l := dial(t, o)
	m := Message{Kind: "k", Body: content(3<<20, 1)}
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
	p := Pipe(io.NopCloser(readerFunc(func([]byte) (int, error) { <-release; return 0, io.EOF })), nopCloser{io.Discard})
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

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
