package link

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

func authority(t testing.TB) *Authority {
	t.Helper()
	a, err := NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestWhoIsNotLetIn(t *testing.T) {
	s := serve(t, func(o *ServerOptions) {
		up := o.Up
		o.Up = func(node, instance string) error {
			if node == "banned" {
				return errors.New("node banned is in no plan")
			}
			return up(node, instance)
		}
	}, limit)
	other := authority(t)
	of := func(a *Authority, role Role, name string) Identity {
		return identity(t, a, role, name)
	}
	foreign := of(other, Agent, "n1")
	believing := foreign
	believing.CA = s.authority.pem
	old, err := s.authority.Issue(Agent, "n1", 1) // certificates count whole seconds: this one has expired
	if err != nil {
		t.Fatal(err)
	}
	shows := func(i Identity) func(*Options) { return func(o *Options) { o.Credentials = i.Fixed() } }
	called := func(node string) func(*Options) {
		return func(o *Options) { o.Credentials, o.Node = of(s.authority, Agent, AnyNode).Fixed(), node }
	}
	for want, change := range map[string]func(*Options){
		"this is not the coordinator":            shows(foreign),
		"remote error: tls: unknown certificate": shows(believing),
		"refuses this agent's certificate: ":     shows(old),
		"refuses this agent's certificate":       shows(of(s.authority, Coordinator, "n1")),
		`is for "n2", and not for node "n1"`:     shows(of(s.authority, Agent, "n2")),
		`this is session s, not "other"`:         func(o *Options) { o.Session = "other" },
		`"*" is not a valid name`:                called("*"),
		`"a/b" is not a valid name`:              called("a/b"),
		`"" is not a valid name of an instance`:  func(o *Options) { o.Instance = "" },
		"node banned is in no plan":              called("banned"),
	} {
		o := s.options(t, "n1")
		change(&o)
		if _, err := tryDial(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if got := s.seen(); len(got) != 0 {
		t.Errorf("the coordinator hears of them: %q", got)
	}
	shared := s.options(t, "n7")
	shared.Credentials = of(s.authority, Agent, AnyNode).Fixed()
	dial(t, shared)
	s.wait(t, "up n7 i1")
}

// Trying goes on while nobody listens, until the time for it is over; the reason is told.
func TestNobodyListens(t *testing.T) {
	s := serve(t, nil, limit)
	o := s.options(t, "n1")
	tries := 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Connect = func(context.Context) (net.Conn, error) {
		if tries++; tries == 3 {
			cancel()
		}
		return nil, errors.New("no route to host")
	}
	if _, err := Dial(ctx, o); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "no route to host") {
		t.Errorf("%v", err)
	}
}

// A node has one agent at a time: a second waits until the first is gone, and then the
// first does not come back.
func TestOneAgentOfANode(t *testing.T) {
	s := serve(t, nil, limit)
	o := s.options(t, "n1")
	conns := make(chan net.Conn, 1)
	broken := make(chan struct{})
	o.Connect = func(ctx context.Context) (net.Conn, error) {
		select {
		case <-broken: // it cannot come back before the other is there
			s.wait(t, "up n1 i2")
		default:
		}
		conn, err := s.connect(ctx)
		select {
		case conns <- conn:
		default:
		}
		return conn, err
	}
	first := dial(t, o)
	o2 := s.options(t, "n1")
	o2.Instance = "i2"
	refusedOnce := make(chan struct{})
	n := 0
	o2.Connect = func(ctx context.Context) (net.Conn, error) {
		if n++; n == 2 { // the first attempt was answered
			close(refusedOnce)
		}
		return s.connect(ctx)
	}
	go func() {
		<-refusedOnce
		if got := s.seen(); len(got) != 1 {
			t.Errorf("two agents at a time: %q", got)
		}
		close(broken)
		(<-conns).Close()
	}()
	second := dial(t, o2)
	if err := lost(t, first); err == nil || !strings.Contains(err.Error(), "another agent of the node has come: i2") {
		t.Errorf("%v", err)
	}
	if err := goodbye(second); err != nil {
		t.Fatal(err)
	}
	want := []string{"up n1 i1", "down n1 another agent of the node has come: i2", "up n1 i2", "down n1 <nil>"}
	if got := s.seen(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if _, err := tryDial(t, o2); err == nil ||
		!strings.Contains(err.Error(), "has said goodbye to the coordinator already") {
		t.Errorf("an instance that is over comes back: %v", err)
	}
}

// What Take refuses ends the link, and both sides know why.
func TestAMessageIsRefused(t *testing.T) {
	s := serve(t, func(o *ServerOptions) {
		o.Take = func(string, Message) error { return errors.New("this is no report") }
	}, limit)
	l := dial(t, s.options(t, "n1"))
	if err := l.Send(Message{Head: []byte("k")}); err != nil {
		t.Fatal(err)
	}
	if err := lost(t, l); err == nil || !strings.Contains(err.Error(), "this is no report") {
		t.Errorf("%v", err)
	}
	events := s.wait(t, "down n1")
	if last := events[len(events)-1]; !strings.Contains(last, "taking a report of node n1: this is no report") {
		t.Error(last)
	}
}

func TestServersThatAreNone(t *testing.T) {
	a := authority(t)
	take := func(string, Message) error { return nil }
	for want, o := range map[string]ServerOptions{
		"reading a certificate": {Take: take, Credentials: Identity{}.Fixed()},
		"no coordinator's":      {Take: take, Credentials: identity(t, a, Agent, "n").Fixed()},
		"needs a function Take": {Credentials: identity(t, a, Coordinator, "main").Fixed()},
	} {
		if _, err := NewServer(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
