package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/phase"
)

// Orders are put in line from the moment in which Up is called, and come in their order.
func TestOrdersArrive(t *testing.T) {
	var s *side
	s = serve(t, func(o *ServerOptions) {
		up := o.Up
		o.Up = func(node, instance string) error {
			if err := s.Send(node, named("first")); err != nil {
				t.Error(err)
			}
			return up(node, instance)
		}
	}, limit)
	l := dial(t, s.options(t, "n1"))
	want := []string{"up n1 i1", "ordered n1 " + digest(named("first"))}
	for i, size := range [][2]int{
		{0, 0}, {1, 0}, {0, 1}, {0, pieceSize}, {pieceSize - 1, 2}, {MaxHead, 5 * pieceSize}, {MaxHead, 0}, {0, 0},
	} {
		m := Message{Head: content(size[0], uint64(i)), Body: content(size[1], uint64(i+100))}
		if err := s.Send("n1", m); err != nil {
			t.Fatal(err)
		}
		want = append(want, "ordered n1 "+digest(m))
	}
	if err := s.Send("n1", named("last")); err != nil {
		t.Fatal(err)
	}
	want = append(want, "ordered n1 "+digest(named("last")))
	if got := s.wait(t, "ordered n1 last"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if err := goodbye(l); err != nil {
		t.Fatal(err)
	}
}

func named(name string) Message { return Message{Head: []byte(name)} }

// Many send to many at once: each node gets the orders of each sender in their order.
func TestManySendOrders(t *testing.T) {
	const senders, orders = 8, 200
	s := serve(t, nil, limit)
	body := content(1000, 1)
	nodes := []string{"n1", "n2", "n3"}
	var all sync.WaitGroup
	for _, node := range nodes {
		o := s.options(t, node)
		next, left := [senders]int{}, senders*orders
		all.Add(1)
		o.Take = func(m Message) error {
			sender, n := m.Head[0], int(m.Head[1])
			if n != next[sender] {
				t.Errorf("order %d of %d comes as number %d", n, sender, next[sender])
			}
			next[sender]++
			if left--; left == 0 {
				all.Done()
			}
			return nil
		}
		dial(t, o)
	}
	for sender := range senders {
		go func() {
			for n := range orders {
				for _, node := range nodes {
					if err := s.Send(node, Message{Head: []byte{byte(sender), byte(n)}, Body: body}); err != nil {
						t.Error(err)
					}
				}
			}
		}()
	}
	all.Wait()
}

func TestOrdersForNobody(t *testing.T) {
	s := serve(t, nil, limit)
	nobody := func(what string) {
		t.Helper()
		err := s.Send("n1", named("k"))
		if err == nil || !strings.Contains(err.Error(), "sending an order to node n1: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	nobody("before it is up")
	l := dial(t, s.options(t, "n1"))
	if err := s.Send("n1", named("k")); err != nil {
		t.Error(err)
	}
	s.wait(t, "ordered n1 k")
	if err := goodbye(l); err != nil {
		t.Fatal(err)
	}
	nobody("after its goodbye")
	s.Close()
	nobody("after Close")
}

// Orders wait for an agent that has no connection, but is not down.
func TestOrdersWaitForAConnection(t *testing.T) {
	s := serve(t, nil, limit)
	o := s.options(t, "n1")
	conns := make(chan net.Conn, 10)
	broken := false
	sent := make(chan struct{})
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		if broken {
			<-sent
		}
		broken = true
		conn, err := s.connect(ctx)
		conns <- conn
		return conn, err
	}
	dial(t, o)
	(<-conns).Close()
	for i := range 3 {
		if err := s.Send("n1", named(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	close(sent)
	if got := s.wait(t, "ordered n1 2"); len(got) != 4 {
		t.Errorf("%q", got)
	}
}

// An agent that does not take an order loses its link, and knows why.
func TestAnOrderIsRefused(t *testing.T) {
	s := serve(t, func(o *ServerOptions) { o.Silence = time.Second }, limit)
	o := s.options(t, "n1")
	o.Silence = time.Second
	o.Take = func(Message) error { return errors.New("this is no order") }
	l := dial(t, o)
	if err := s.Send("n1", named("k")); err != nil {
		t.Fatal(err)
	}
	if err := lost(t, l); !isRefusal(err) || !strings.Contains(err.Error(), "did not take an order: this is no order") {
		t.Errorf("%v", err)
	}
	s.wait(t, "down n1 ")
}

func TestAnAgentMustTake(t *testing.T) {
	s := serve(t, nil, limit)
	o := s.options(t, "n1")
	o.Take = nil
	if _, err := tryDial(t, o); err == nil || !strings.Contains(err.Error(), "needs a function Take") {
		t.Errorf("%v", err)
	}
}

// A node that does not take its orders does not take the coordinator's memory: it is down,
// with a connection and without one.
func TestANodeThatTakesNoOrders(t *testing.T) {
	for _, connected := range []bool{true, false} {
		t.Run(fmt.Sprint(connected), func(t *testing.T) {
			s := serve(t, nil, limit)
			o := s.options(t, "n1")
			hold := make(chan struct{})
			o.Take = func(Message) error { <-hold; return nil }
			conns := make(chan net.Conn, 10)
			o.Connect = func(ctx context.Context) (net.Conn, error) {
				if len(conns) > 0 {
					<-hold
				}
				conn, err := s.connect(ctx)
				conns <- conn
				return conn, err
			}
			l := dial(t, o)
			if !connected {
				conn := <-conns
				conns <- nil
				conn.Close()
			}
			body := make([]byte, MaxBody)
			var err error
			sent := 0
			for ; err == nil && sent < 100; sent++ {
				err = s.Send("n1", Message{Body: body})
			}
			if sent != maxOrders/MaxBody || !strings.Contains(err.Error(), "256 MiB of orders were not acknowledged") {
				t.Errorf("%d orders, then %v", sent, err)
			}
			s.wait(t, "down n1 more than 256 MiB")
			close(hold)
			if err := lost(t, l); err == nil || !strings.Contains(err.Error(), "256 MiB of orders") {
				t.Errorf("%v", err)
			}
		})
	}
}

// Both sides send the most at once while one of them takes slowly and sends what it takes
// back: neither waits for the other, and no sign of life is missed.
func TestBothSidesSendAtOnce(t *testing.T) {
	phase.Long(t)
	const each = 20
	const silence = 2 * time.Second
	m := Message{Body: content(4<<20, 1)}
	count := func(what string, slow bool, answer func() error) (func(Message) error, chan struct{}) {
		done := make(chan struct{})
		n := 0
		return func(Message) error {
			if slow {
				time.Sleep(50 * time.Millisecond)
			}
			if n++; n == 2*each { // those that were sent, and those that came back
				close(done)
			}
			if n <= each {
				return answer()
			}
			return nil
		}, done
	}
	for _, slow := range []string{"agent", "coordinator"} {
		t.Run(slow+" is slow", func(t *testing.T) {
			var s *side
			var l *Link
			dialled := make(chan struct{})
			takeReport, reports := count("report", slow == "coordinator", func() error { return s.Send("n1", m) })
			takeOrder, orders := count("order", slow == "agent", func() error { <-dialled; return l.Send(m) })
			s = serve(t, func(o *ServerOptions) {
				o.Silence = silence
				o.Take = func(_ string, m Message) error { return takeReport(m) }
			}, limit)
			o := s.options(t, "n1")
			o.Silence = silence
			o.Take = takeOrder
			l = dial(t, o)
			close(dialled)
			for range each {
				if err := s.Send("n1", m); err != nil {
					t.Fatal(err)
				}
			}
			for range each {
				if err := l.Send(m); err != nil {
					t.Fatal(err)
				}
			}
			for _, done := range []chan struct{}{reports, orders} {
				select {
				case <-done:
				case <-time.After(limit):
					t.Fatal("they wait for each other")
				}
			}
			if got := s.seen(); len(got) != 1 {
				t.Errorf("%q", got)
			}
		})
	}
}

// What was on its way before the order to leave is taken before the link is lost.
func TestOrdersBeforeTheEnd(t *testing.T) {
	s := serve(t, nil, limit)
	o := s.options(t, "n1")
	hold, taken := make(chan struct{}), 0
	o.Take = func(Message) error { <-hold; taken++; return nil }
	l := dial(t, o)
	for range 3 {
		if err := s.Send("n1", named("k")); err != nil {
			t.Fatal(err)
		}
	}
	s.Server.mu.Lock()
	out := s.members["n1"].out
	s.Server.mu.Unlock()
	onTheirWay := func() bool {
		out.mu.Lock()
		defer out.mu.Unlock()
		return out.sent == 3
	}
	for !onTheirWay() {
		time.Sleep(time.Millisecond)
	}
	closed := make(chan struct{})
	go func() { defer close(closed); s.Close() }()
	for l.Send(named("k")) == nil { // until the order to leave has come
		time.Sleep(time.Millisecond)
	}
	select {
	case <-l.Lost():
		t.Error("it is lost before the orders are taken")
	default:
	}
	close(hold)
	if err := lost(t, l); !errors.Is(err, ErrLeave) || taken != 3 {
		t.Errorf("%v, after %d orders", err, taken)
	}
	<-closed
}
