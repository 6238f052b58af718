package link

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// limit is how long a test waits for what must happen, on a busy machine too.
const limit = 60 * time.Second

// calm is a silence that a busy machine does not reach by itself.
const calm = 30 * time.Second

type side struct {
	*Server
	authority *Authority
	address   string

	mu     sync.Mutex
	events []string // "up n", "took n name …", "ordered n name …", "down n cause"
	more   chan struct{}
}

func (s *side) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, fmt.Sprintf(format, args...))
	close(s.more)
	s.more = make(chan struct{})
}

// wait waits for an event with a prefix and gives all events until then.
func (s *side) wait(t testing.TB, prefix string) []string {
	t.Helper()
	late := time.After(limit)
	for {
		s.mu.Lock()
		events, more := s.events, s.more
		s.mu.Unlock()
		for i, e := range events {
			if strings.HasPrefix(e, prefix) {
				return events[:i+1]
			}
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("no event %q among %q", prefix, events)
		}
	}
}

func (s *side) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events
}

// digest tells messages from each other. It begins with the head if that is short.
func digest(m Message) string {
	name := "long"
	if len(m.Head) < 10 {
		name = string(m.Head)
	}
	return fmt.Sprintf("%s %d %d %x", name, len(m.Head), len(m.Body),
		sha256.Sum256(bytes.Join([][]byte{m.Head, m.Body}, []byte{0})))
}

// serve starts a coordinator's side that takes everybody, unless change says otherwise.
func serve(t testing.TB, change func(*ServerOptions), wait time.Duration) *side {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, leaks) }) // runs after all that is registered below
	a, err := NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s := &side{authority: a, more: make(chan struct{})}
	o := ServerOptions{
		Credentials: identity(t, a, Coordinator, "main").Fixed(), Session: "s", Silence: calm,
		Take: func(node string, m Message) error { s.note("took %s %s", node, digest(m)); return nil },
		Up:   func(node, instance string) error { s.note("up %s %s", node, instance); return nil },
		Down: func(node string, cause error) { s.note("down %s %v", node, cause) },
	}
	if change != nil {
		change(&o)
	}
	if s.Server, err = newServer(o, wait); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	address, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = address.String()
	return s
}

func identity(t testing.TB, a *Authority, role Role, name string) Identity {
	t.Helper()
	i, err := a.Issue(role, name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func (s *side) connect(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", s.address)
}

// options are those of a node's agent that is let in.
func (s *side) options(t testing.TB, node string) Options {
	t.Helper()
	return Options{
		Credentials: identity(t, s.authority, Agent, node).Fixed(), Session: "s", Node: node, Instance: "i1",
		Connect: s.connect, Silence: calm,
		Take: func(m Message) error { s.note("ordered %s %s", node, digest(m)); return nil },
	}
}

// dial connects an agent, which is closed at the end of the test.
func dial(t testing.TB, o Options) *Link {
	t.Helper()
	l, err := tryDial(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func tryDial(t testing.TB, o Options) (*Link, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	l, err := Dial(ctx, o)
	if err == nil {
		t.Cleanup(func() { goodbye(l) })
	}
	return l, err
}

func goodbye(l *Link) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return l.Close(ctx)
}

func lost(t testing.TB, l *Link) error {
	t.Helper()
	select {
	case <-l.Lost():
	case <-time.After(limit):
		t.Fatal("the link is not lost")
	}
	return l.Cause()
}
