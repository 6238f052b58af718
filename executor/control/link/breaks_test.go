package link

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/phase"
)

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

// Messages of both directions, the longest among them, come in order and once while the
// connection breaks at random moments, in the middle of handshakes and goodbyes too.
func TestNothingIsLostWhenConnectionsBreak(t *testing.T) {
	phase.Long(t)
	const messages = 60
	s := serve(t, nil, limit)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	cuts := 0
	o := s.options(t, "n1")
	var ordered []string
	orders := make(chan struct{})
	o.Take = func(m Message) error {
		ordered = append(ordered, digest(m))
		if len(ordered) == messages {
			close(orders)
		}
		return nil
	}
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
	numbered := func(i int) Message {
		m := Message{Head: []byte(strconv.Itoa(i)), Body: content(i*i*1000, uint64(i))}
		if i == 10 {
			m.Body = long
		}
		return m
	}
	var wantOrders []string
	for i := range messages {
		report, order := numbered(i), numbered(messages-i)
		if err := s.Send("n1", order); err != nil {
			t.Fatal(err)
		}
		if err := l.Send(report); err != nil {
			t.Fatal(err)
		}
		want = append(want, "took n1 "+digest(report))
		wantOrders = append(wantOrders, digest(order))
	}
	select {
	case <-orders:
	case <-time.After(2 * limit):
		t.Fatal("not all orders come")
	}
	if !slices.Equal(ordered, wantOrders) {
		t.Errorf("%.2000q are ordered", ordered)
	}
	if err := goodbye(l); err != nil {
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
	if err := lost(t, l); err == nil || !strings.Contains(err.Error(), "nothing received") {
		t.Errorf("the agent: %v", err)
	}
	atAgent := time.Since(begin)
	events := s.wait(t, "down")
	atCoordinator := time.Since(begin)
	if last := events[len(events)-1]; !strings.Contains(last, "nothing received from the node for 500ms") {
		t.Error(last)
	}
	// the last byte may be a heartbeat older; a busy machine delays it further
	if least := silence - timeoutsOf(silence).heartbeatInterval; atAgent < least || atCoordinator < least {
		t.Errorf("lost after %s, down after %s, want at least %s", atAgent, atCoordinator, least)
	}
	t.Logf("lost after %s, down after %s", atAgent, atCoordinator)
}

// A coordinator that does not take what an agent sends lives, and so does the agent: signs
// of life pass what waits.
func TestWaitingIsNotSilence(t *testing.T) {
	phase.Long(t)
	const silence = time.Second
	hold := make(chan struct{})
	s := serve(t, func(o *ServerOptions) {
		o.Silence = silence
		take := o.Take
		o.Take = func(node string, m Message) error { <-hold; return take(node, m) }
	}, limit)
	o := s.options(t, "n1")
	o.Silence = silence
	connections := 0
	o.Connect = func(ctx context.Context) (net.Conn, error) { connections++; return s.connect(ctx) }
	l := dial(t, o)
	for i := range 20 {
		if err := l.Send(Message{Head: []byte(fmt.Sprint("k", i)), Body: make([]byte, window)}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(3 * silence)
	close(hold)
	s.wait(t, "took n1 k19")
	if got := s.seen(); len(got) != 21 || connections != 1 {
		t.Errorf("%d connections: %q", connections, got)
	}
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
		if err := l.Send(Message{Head: []byte(fmt.Sprint(i))}); err != nil {
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

// An acknowledgement that is lost with its connection comes with the next: a Send
// that waits for it goes on.
func TestALostAcknowledgement(t *testing.T) {
	phase.Long(t)
	conns := make(chan net.Conn, 10)
	s := serve(t, func(o *ServerOptions) {
		take := o.Take
		o.Take = func(node string, m Message) error {
			if string(m.Head) == "last" {
				(<-conns).Close()
			}
			return take(node, m)
		}
	}, limit)
	o := s.options(t, "n1")
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		conn, err := s.connect(ctx)
		conns <- conn
		return conn, err
	}
	l := dial(t, o)
	if err := l.Send(Message{Head: []byte("first"), Body: content(3*pieceSize, 1)}); err != nil {
		t.Fatal(err)
	}
	s.wait(t, "took n1 first")
	if err := l.Send(Message{Head: content(MaxHead, 2), Body: content(MaxBody, 2)}); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- l.Send(Message{Head: []byte("next")}) }() // more than 64 MiB are not acknowledged
	select {
	case err := <-waiting:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(limit):
		t.Fatal("it is waited for what was lost")
	}
	s.wait(t, "took n1 next")
}

// A goodbye counts when its answer is lost with the connection.
func TestALostFarewell(t *testing.T) {
	conns := make(chan net.Conn, 10)
	s := serve(t, func(o *ServerOptions) {
		down := o.Down
		o.Down = func(node string, cause error) { (<-conns).Close(); down(node, cause) }
	}, limit)
	o := s.options(t, "n1")
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		conn, err := s.connect(ctx)
		conns <- conn
		return conn, err
	}
	if err := goodbye(dial(t, o)); err != nil {
		t.Errorf("%v", err)
	}
	if got := s.wait(t, "down n1 <nil>"); len(got) != 2 {
		t.Errorf("%q", got)
	}
}
