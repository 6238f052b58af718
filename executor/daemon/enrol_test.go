package daemon

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"weir/executor/cluster"
	"weir/executor/link"
	"weir/executor/trust"
)

// An agent whose first coordinator takes its call and says nothing joins through the next
// one, and hears meanwhile that an invitation is gone.
func TestAnEnrolmentThatHangsHoldsUpNobody(t *testing.T) {
	a := authority(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	here := issued(t, a, trust.Coordinator, "c1")
	server, err := link.NewServer(link.ServerOptions{
		Identity: here, Authority: a, Session: "s",
		Take: func(string, link.Message) error { return nil }, Up: func(string, string) error { return nil },
		Down: func(string, error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	at, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	join, err := a.Token(time.Minute, "n1")
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{
		sessions: map[string]context.CancelFunc{}, answer: func(string, string) {},
		Options: Options{Node: "n1", State: t.TempDir(), Join: join, Say: func(string) {}},
	}
	if err := d.credentials(time.Now()); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	body := Invitation{Session: "hangs", Coordinator: []string{silent.Addr().String()}, SessionKey: make([]byte, 32),
		Expires: later}.Encode()
	sealed, err := here.Invite(trust.Subject{Session: "hangs", Node: "n1", Name: InvitationName}, body, later)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer d.wg.Wait()
	defer end()
	d.invited(ctx, cluster.Invitation{Session: "hangs", Body: sealed})
	call, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	short, cancel := context.WithTimeout(ctx, meeting/2)
	defer cancel()
	i, err := d.enrolled(short, []string{at.String()})
	if err != nil {
		t.Fatal(err)
	}
	if role, name, err := i.Role(); err != nil || role != trust.Agent || name != "n1" {
		t.Errorf("it is %s %s (%v)", role, name, err)
	}
	d.invited(ctx, cluster.Invitation{Session: "hangs", Gone: true})
	d.wg.Wait() // which its call did not outlive
	if short.Err() != nil {
		t.Errorf("it took longer than %v", meeting/2)
	}
}

// A session that has ended in order is not served again, however genuine its invitation
// is: whoever can write to etcd can put it back.
func TestAnInvitationIsNotTakenTwice(t *testing.T) {
	a := authority(t)
	later := time.Now().Add(time.Hour)
	calls, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	calls.Close() // a call is refused at once
	for session, want := range map[string]string{
		"ended": "refused an invitation to a session that is over", "lasts": "connection refused",
	} {
		body := Invitation{Session: session, Coordinator: []string{calls.Addr().String()}, SessionKey: make([]byte, 32),
			Expires: later}.Encode()
		sealed, err := issued(t, a, trust.Coordinator,
			"c1").Invite(trust.Subject{Session: session, Node: "n1", Name: InvitationName}, body, later)
		if err != nil {
			t.Fatal(err)
		}
		d := &daemon{
			token: trust.Token{CA: a.Certificate()}, over: map[string]time.Time{"ended": later},
			Options: Options{Node: "n1", State: t.TempDir(), Say: func(string) {}},
		}
		if err := d.accept(t.Context(), cluster.Invitation{Session: session, Body: sealed}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("session %s: %v, want %q", session, err, want)
		}
	}
}
