package link

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/executor/trust"
)

func authority(t testing.TB) *trust.Authority {
	t.Helper()
	a, err := trust.NewAuthority("test", time.Hour)
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
	of := func(a *trust.Authority, role trust.Role, name string) trust.Identity {
		return identity(t, a, role, name)
	}
	foreign := of(other, trust.Agent, "n1")
	believing := foreign
	believing.CA = s.authority.Certificate()
	old, err := s.authority.Issue(trust.Agent, "n1", 1) // certificates count whole seconds: this one has expired
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"this is not the coordinator":        func(o *Options) { o.Identity = foreign },
		"not of this authority":              func(o *Options) { o.Identity = believing },
		"refuses this agent's certificate: ": func(o *Options) { o.Identity = old },

		"refuses this agent's certificate": func(o *Options) { o.Identity = of(s.authority, trust.Coordinator, "n1") },

		`is node "n2"'s, not "n1"'s`:     func(o *Options) { o.Identity = of(s.authority, trust.Agent, "n2") },
		`this is session s, not "other"`: func(o *Options) { o.Session = "other" },

		`cannot be called "*"`:   func(o *Options) { o.Identity, o.Node = of(s.authority, trust.Agent, "*"), "*" },
		`cannot be called "a/b"`: func(o *Options) { o.Identity, o.Node = of(s.authority, trust.Agent, "*"), "a/b" },

		`an instance cannot be called ""`: func(o *Options) { o.Instance = "" },
		"node banned is in no plan": func(o *Options) {
			o.Identity, o.Node = of(s.authority, trust.Agent, "*"), "banned"
		},
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
	shared.Identity = of(s.authority, trust.Agent, trust.AnyNode)
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
	if err := l.Send(Message{Kind: "k"}); err != nil {
		t.Fatal(err)
	}
	if err := lost(t, l); err == nil || !strings.Contains(err.Error(), "this is no report") {
		t.Errorf("%v", err)
	}
	events := s.wait(t, "down n1")
	if last := events[len(events)-1]; !strings.Contains(last, `taking a message "k" of node n1: this is no report`) {
		t.Error(last)
	}
}

func enrolment(t testing.TB, s *side, text, node string) (trust.Identity, error) {
	t.Helper()
	token, err := trust.ReadToken(text)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	conn, err := s.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return Enrol(ctx, conn, token, text, node)
}

func token(t testing.TB, a *trust.Authority, ttl time.Duration, node string) string {
	t.Helper()
	text, err := a.Token(ttl, node)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestANewcomerEnrols(t *testing.T) {
	var a *trust.Authority
	s := serve(t, func(o *ServerOptions) {
		a = authority(t)
		o.Authority, o.Identity = a, identity(t, a, trust.Coordinator, "main")
	}, limit)
	s.authority = a
	i, err := enrolment(t, s, token(t, a, time.Minute, "n1"), "n1")
	if err != nil {
		t.Fatal(err)
	}
	o := s.options(t, "n1")
	o.Identity = i
	dial(t, o)
	s.wait(t, "up n1 i1")

	if _, err := enrolment(t, s, token(t, a, time.Minute, "n1"), "n2"); err == nil ||
		!strings.Contains(err.Error(), `is for node "n1", not for "n2"`) {
		t.Errorf("%v", err)
	}
	brief := token(t, a, time.Nanosecond, "")
	if _, err := enrolment(t, s, brief, "n1"); err == nil || !strings.Contains(err.Error(), "expired at") {
		t.Errorf("%v", err)
	}
	if _, err := enrolment(t, s, token(t, authority(t), time.Minute, ""), "n1"); err == nil ||
		!strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("the token is shown to another coordinator: %v", err)
	}
	// the door for newcomers leads nowhere else
	hello, err := trust.ReadToken(brief)
	if err != nil {
		t.Fatal(err)
	}
	config, err := hello.TLS()
	if err != nil {
		t.Fatal(err)
	}
	for _, protocols := range [][]string{{linkProtocol}, nil} {
		conn, err := s.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := config.Clone()
		c.NextProtos = protocols
		_ = conn.SetDeadline(time.Now().Add(limit))
		if n, err := tls.Client(conn, c).Read(make([]byte, 1)); n > 0 {
			t.Errorf("protocols %v: a stranger is greeted, %v", protocols, err)
		}
		conn.Close()
	}
}

func TestNobodyEnrolsWhereThereIsNoAuthority(t *testing.T) {
	s := serve(t, nil, limit)
	if _, err := enrolment(t, s, token(t, s.authority, time.Minute, ""), "n1"); err == nil ||
		!strings.Contains(err.Error(), "enrols nobody") {
		t.Errorf("%v", err)
	}
}

func TestServersThatAreNone(t *testing.T) {
	a := authority(t)
	take := func(string, Message) error { return nil }
	for want, o := range map[string]ServerOptions{
		"reading an identity": {Take: take},
		"cannot be the":       {Take: take, Identity: identity(t, a, trust.Agent, "n")},
		"must take":           {Identity: identity(t, a, trust.Coordinator, "main")},
	} {
		if _, err := NewServer(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
