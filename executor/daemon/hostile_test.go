package daemon

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/lab/garble"
	"weir/executor/trust"
	"weir/test/phase"
)

// howMany messages a test makes; WEIR_HOSTILE says how many it is to be instead.
func howMany(t *testing.T, otherwise int) int {
	t.Helper()
	text := os.Getenv("WEIR_HOSTILE")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n / 5
}

func authority(t testing.TB) *trust.Authority {
	t.Helper()
	a, err := trust.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issued(t testing.TB, a *trust.Authority, role trust.Role, name string) trust.Identity {
	t.Helper()
	i, err := a.Issue(role, name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// invitations are such as sessions write, none of which is for node n1 of session s now:
// they lead to an address that must not be called.
func invitations(t testing.TB, a *trust.Authority, address string) (all [][]byte) {
	t.Helper()
	later, before := time.Now().Add(time.Hour), time.Now().Add(-time.Second)
	here, stranger := issued(t, a, trust.Coordinator, "c1"), issued(t, authority(t), trust.Coordinator, "c1")
	for _, by := range []struct {
		signer  trust.Identity
		about   trust.Subject
		expires time.Time
		session string // that it says it is to
	}{
		{here, trust.Subject{Session: "s", Node: "n2", Name: InvitationName}, later, "s"},
		{here, trust.Subject{Session: "r", Node: "n1", Name: InvitationName}, later, "r"},
		{here, trust.Subject{Session: "s", Node: "n1", Name: "task"}, later, "s"},
		{here, trust.Subject{Session: "s", Node: "n1", Name: InvitationName}, before, "s"},
		{here, trust.Subject{Session: "s", Node: "n1", Name: InvitationName}, later, "r"},
		{stranger, trust.Subject{Session: "s", Node: "n1", Name: InvitationName}, later, "s"},
	} {
		body := Invitation{Session: by.session, Coordinator: []string{address}, SessionKey: make([]byte, 32),
			Expires: by.expires}.Encode()
		sealed, err := by.signer.Invite(by.about, body, by.expires)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sealed, body)
	}
	return all
}

// Whatever is written where agents look for invitations, a registered agent refuses it
// and goes on: nobody is called, no session begins and nothing is written.
func TestHostileInvitationsAreRefused(t *testing.T) {
	phase.Long(t)
	calls, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	called := make(chan struct{})
	go func() {
		defer close(called)
		if conn, err := calls.Accept(); err == nil {
			conn.Close()
			t.Error("the coordinator of an invitation that is none was called")
		}
	}()
	mark := filepath.Join(t.TempDir(), "mark")
	var refused, answered atomic.Int64
	a := authority(t)
	d := &daemon{sessions: map[string]context.CancelFunc{}, refused: map[string]bool{},
		identity: issued(t, a, trust.Agent, "n1"),
		answer: func(session, why string) {
			if session != "s" || !strings.HasPrefix(why, "refused") {
				t.Errorf("session %s is told %s", session, why)
			}
			answered.Add(1)
		}, Options: Options{
			Node: "n1", State: t.TempDir(), RankCommand: []string{"touch", mark}, ProbeCommand: []string{"touch", mark},
			Commands: true,
			Say: func(text string) {
				if strings.HasSuffix(text, " further invitations were refused") {
					return
				}
				if !strings.HasPrefix(text, "session s: refused") {
					t.Error(text)
				}
				refused.Add(1)
			},
		}}
	g := garble.New(1, invitations(t, a, calls.Addr().String())...)
	all, begun := howMany(t, 20_000), time.Now()
	for range all {
		d.invited(t.Context(), cluster.Invitation{Session: "s", Body: g.Next()})
		d.wg.Wait()
	}
	calls.Close()
	<-called
	// in each span, a few of them are told of
	most := limitMost * (2 + int64(time.Since(begun)/limitSpan))
	if n := refused.Load(); n == 0 || n > most || answered.Load() != n || len(d.sessions) > 0 {
		t.Errorf("%d of %d are told of, at most %d may be, %d answered, %d sessions are under way", n, all, most,
			answered.Load(), len(d.sessions))
	}
	for _, dir := range []string{d.State, filepath.Dir(mark)} {
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("in %s: %v %v", dir, files, err)
		}
	}
}

// closer is where a bootstrapped agent would write.
type closer struct{ io.Writer }

func (closer) Close() error { return nil }

// bootstraps are documents that agents are started with.
func bootstraps(t testing.TB) (all [][]byte) {
	t.Helper()
	a := authority(t)
	b := trust.Bootstrap{
		Session: "s", Node: "n1", Identity: issued(t, a, trust.Agent, "n1"), Coordinator: []string{"10.0.0.1:7000"},
		SessionKey: make([]byte, 32),
		Etcd: &trust.EtcdAccess{
			Endpoints: []string{"https://10.0.0.2:2379"}, User: "u", Password: "p", CA: a.Certificate(),
		},
	}
	stdio := b
	stdio.Coordinator, stdio.Etcd = []string{trust.Stdio}, nil
	for _, b := range []trust.Bootstrap{b, stdio} {
		text, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

// inherited reads a bootstrap document as an agent does, and says whether it took it.
func inherited(t testing.TB, text []byte) bool {
	t.Helper()
	var said bytes.Buffer
	b, pipe, err := Inherit(bytes.NewReader(text), closer{&said})
	if err == nil {
		if _, err := b.Encode(); err != nil {
			t.Errorf("what is taken cannot be written: %v", err)
		}
		_ = pipe.Close()
	}
	if said.Len() > 0 {
		t.Errorf("it was answered %q", said.Bytes())
	}
	return err == nil
}

// Whatever an agent is started with instead of a bootstrap document, it reads no more of
// it than one may have, takes nothing that could not have been written, and says nothing.
func TestHostileBootstrapsAreRefused(t *testing.T) {
	phase.Long(t)
	g, taken, all := garble.New(2, bootstraps(t)...), 0, howMany(t, 20_000)
	for range all {
		if inherited(t, g.Next()) {
			taken++
		}
	}
	if taken == 0 || taken > all/2 { // those that are as they were, or differ in a letter of a name
		t.Errorf("%d of %d are taken", taken, all)
	}
}

func FuzzInherit(f *testing.F) {
	for _, text := range bootstraps(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { inherited(t, text) })
}

// No text but the coordinator's own is an invitation of this agent.
func FuzzInvitation(f *testing.F) {
	a := authority(f)
	for _, text := range invitations(f, a, "127.0.0.1:1") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if i, by, err := openInvitation(a.Certificate(), "n1", cluster.Invitation{Session: "s", Body: text},
			time.Now()); err == nil {
			t.Errorf("%+v of %s", i, by)
		}
		if i, err := decodeInvitation("s", text); err == nil &&
			(len(i.Coordinator) > mostAddresses || i.Session != "s") {
			t.Errorf("%+v", i)
		}
		_, _ = DecodeAbout("n1", text)
		_, _ = agent.DecodeReport("n1", text, text)
	})
}
