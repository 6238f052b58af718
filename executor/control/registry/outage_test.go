package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/test/phase"
)

// short has times that a test can wait for, in the order of those that users have: an
// outage is shorter than a lease, and both are than the silence in which etcd is given up.
// The lease outlives the outage by far, so that a busy machine renews it in time.
var short = timeouts{ttl: 12 * time.Second, silence: 60 * time.Second}

const outage = 3 * time.Second

func openAt(t *testing.T, c Config, id string, p timeouts) *Session {
	t.Helper()
	s, err := open(t.Context(), c, id, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(false); err != nil {
			t.Error(err)
		}
	})
	return s
}

// pair is a coordinator and an agent that waits for its invitations.
type pair struct {
	t           *testing.T
	coordinator *Session
	agent       *Directory
	invitations <-chan Invitation
}

func newPair(t *testing.T, c Config, id string) *pair {
	t.Helper()
	p := &pair{t: t, coordinator: openAt(t, c, id, short), agent: &Directory{&client{}}}
	if err := p.agent.open(t.Context(), c, short); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.agent.Close(false); err != nil {
			t.Error(err)
		}
	})
	if err := p.agent.Register(t.Context(), "of-"+id, nil, func([]byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.invitations, err = p.agent.Invites(t.Context(), "of-"+id); err != nil {
		t.Fatal(err)
	}
	return p
}

// works holds them to an invitation, a reservation and an answer, and to having lost nothing before.
func (p *pair) works(when string) {
	p.t.Helper()
	s, node := p.coordinator, "of-"+p.coordinator.id
	if err := errors.Join(s.Reserve(p.t.Context(), node, Reservation{GPUs: []int{1}}),
		s.Invite(p.t.Context(), node, []byte(when))); err != nil {
		p.t.Fatalf("%s: %v", when, err)
	}
	p.hears(when)
	if err := p.agent.Refuse(p.t.Context(), node, s.id, when); err != nil {
		p.t.Fatalf("%s: %v", when, err)
	}
	if why, err := s.Directory().Refusal(p.t.Context(), node, s.id); err != nil || why != when {
		p.t.Fatalf("%s: it answers %q, %v", when, why, err)
	}
	select {
	case <-s.Lost():
		p.t.Fatalf("%s: the coordinator's lease is lost", when)
	case <-p.agent.Lost():
		p.t.Fatalf("%s: the agent's lease is lost", when)
	case i := <-p.invitations:
		p.t.Fatalf("%s: a further invitation: %+v", when, i)
	default:
	}
}

// hears takes the next invitation.
func (p *pair) hears(body string) {
	p.t.Helper()
	if got := next(p.t, body, p.invitations); got.Session != p.coordinator.id || string(got.Body) != body || got.Gone {
		p.t.Fatalf("%s: got %+v", body, got)
	}
}

// A session goes on after everything that happens to an etcd of three members: it waits,
// and it loses nothing. Two sessions do at once, and neither sees the other.
func TestSessionsOutliveWhatHappensToEtcd(t *testing.T) {
	t.Parallel()
	phase.Rest(t)
	e := startEnsemble(t, 3, member{})
	a, b := newPair(t, e.config(), "a"), newPair(t, e.config(), "b")
	works := func(when string) {
		t.Helper()
		a.works(when)
		b.works(when)
	}
	works("in the beginning")

	leader := e.leader(a.agent.etcd)
	e.kill(leader)
	works("without the one that led")
	e.start(leader)
	works("with all again")

	for i := range e.members {
		e.kill(i)
	}
	// what is asked for meanwhile is done when they are back
	asked := make(chan error, 1)
	go func() {
		asked <- a.coordinator.Invite(t.Context(), "of-a", []byte("patient"))
	}()
	time.Sleep(short.ttl + 2*time.Second) // longer than a lease: etcd begins anew to count
	select {
	case err := <-asked:
		t.Errorf("without any member it was written, or given up: %v", err)
	default:
	}
	for i := range e.members {
		e.start(i)
	}
	if err := <-asked; err != nil {
		t.Error(err)
	}
	a.hears("patient")
	works("after all were away")

	for _, signal := range []os.Signal{unix.SIGSTOP, unix.SIGCONT} {
		for _, m := range e.running {
			if err := m.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
		if signal == unix.SIGSTOP {
			time.Sleep(outage) // shorter than a lease: its time went on
		}
	}
	works("after all stood still")

	e.network.cut(outage)
	works("after the network was cut")
}

// Open waits for a restarting etcd if Wait permits it, and calls Waiting once.
func TestRestartingEtcdIsWaitedFor(t *testing.T) {
	phase.Long(t)
	t.Parallel()
	e := startEnsemble(t, 1, member{})
	c := e.config()
	e.kill(0)
	said := make(chan string, 9)
	c.Wait, c.Waiting = 2*time.Minute, func(text string) {
		said <- text
		e.start(0)
	}
	openAt(t, c, "s", short)
	close(said)
	if text := <-said; !strings.Contains(text, "does not answer") || !strings.Contains(text, "2m0s") {
		t.Errorf("said %q", text)
	}
	for text := range said {
		t.Errorf("and %q", text)
	}
}

// A process that was suspended, or cut off for longer than its lease, must know: what it
// wrote is gone, and others may have its place.
func TestLostLeaseIsNoticed(t *testing.T) {
	phase.Long(t)
	t.Parallel()
	e := startEnsemble(t, 1, member{})
	c := e.config()
	c.Dial = nil // the others' network is well
	observer := newPair(t, c, "s")
	s, err := open(t.Context(), e.config(), "other", timeouts{ttl: 2 * time.Second, silence: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	invitations, err := s.Directory().Invites(t.Context(), "n0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Invite(t.Context(), "of-s", []byte("come")); err != nil {
		t.Fatal(err)
	}
	next(t, "the invitation", observer.invitations)
	e.network.mu.Lock()
	if i := next(t, "its end", observer.invitations); !i.Gone {
		t.Errorf("%+v", i)
	}
	e.network.mu.Unlock()
	select {
	case <-s.Lost():
	case <-time.After(30 * time.Second):
		t.Fatal("the lease is gone and nobody knows")
	}
	if err := s.Invite(t.Context(), "of-s", nil); !errors.Is(err, errLeaseGone) {
		t.Errorf("writing without a lease: %v", err)
	}
	for range invitations { // the channel is closed
	}
	if err := s.Close(false); err != nil { // no reservation is left
		t.Error(err)
	}
}

// Close waits for an unreachable etcd, but not for one that is known to be gone, even if that becomes known
// during Close.
func TestLeavingAnEtcdThatIsGone(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"before": 0, "meanwhile": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, gone := startEnsemble(t, 1, member{}), make(chan struct{})
			c := e.config()
			c.Gone = gone
			s, err := open(t.Context(), c, "s", short)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Announce(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			e.kill(0)
			begun := time.Now()
			time.AfterFunc(after, func() { close(gone) })
			if err := s.Close(false); err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took > leaveTime {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// An etcd that does not answer is said so, without what gRPC says, within the time of somebody in a hurry.
func TestLeavingAnEtcdThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	e := startEnsemble(t, 1, member{})
	s, err := open(t.Context(), e.config(), "s", short)
	if err != nil {
		t.Fatal(err)
	}
	e.kill(0)
	for what, err := range map[string]error{
		"deleting the session's keys: ": s.Wipe(true), "disconnecting from etcd: ": s.Close(true),
	} {
		if !errors.Is(err, ErrNoAnswer) || err.Error() != what+ErrNoAnswer.Error() {
			t.Errorf("%s%v", what, err)
		}
	}
}

// What sessions write must not be missed because etcd has forgotten it.
func TestWatchGoesOnAfterCompaction(t *testing.T) {
	t.Parallel()
	e := startEnsemble(t, 1, member{})
	writer := e.config()
	writer.Dial = nil
	w := openAt(t, writer, "s", short)
	s := openAt(t, e.config(), "s", short)
	dir := w.root + invitesDir + "n0/"
	for _, session := range []string{"goes", "stays", "again"} {
		if err := w.put(t.Context(), dir+session, []byte("first")); err != nil {
			t.Fatal(err)
		}
	}
	invitations, err := s.Directory().Invites(t.Context(), "n0")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		next(t, "those that are there", invitations)
	}
	e.network.mu.Lock()
	for _, change := range []func() error{
		func() error { return w.commit(t.Context(), []clientv3.Op{clientv3.OpDelete(dir + "goes")}) },
		func() error { return w.commit(t.Context(), []clientv3.Op{clientv3.OpDelete(dir + "again")}) },
		func() error { return w.put(t.Context(), dir+"again", []byte("second")) },
		func() error { return w.put(t.Context(), dir+"comes", []byte("first")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.etcd.Get(t.Context(), "nothing")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.etcd.Compact(t.Context(), got.Header.Revision); err != nil {
		t.Fatal(err)
	}
	// the connection breaks, so that the watch must begin again where it was
	e.kill(0)
	e.start(0)
	e.network.mu.Unlock()
	seen := map[string]int{}
	for range 4 {
		m := next(t, "what has changed", invitations)
		seen[fmt.Sprintf("%s %s %v", m.Session, m.Body, m.Gone)]++
	}
	for _, want := range []string{"goes  true", "again  true", "again second false", "comes first false"} {
		if seen[want] != 1 {
			t.Errorf("%q was told %d times: %v", want, seen[want], seen)
		}
	}
	if err := w.put(t.Context(), dir+"later", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if m := next(t, "what comes later", invitations); m.Session != "later" {
		t.Errorf("%+v", m)
	}
}

// An etcd that is gone for good is given up in the end, and everybody is told why.
func TestEtcdThatStaysAwayIsGivenUp(t *testing.T) {
	phase.Long(t)
	t.Parallel()
	e := startEnsemble(t, 1, member{})
	s, err := open(t.Context(), e.config(), "s", timeouts{ttl: 2 * time.Second, silence: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	e.kill(0)
	began := time.Now()
	err = s.Invite(context.Background(), "n0", nil)
	if !errors.Is(err, errAway) || !strings.Contains(err.Error(), "inviting node n0: ") {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("given up after %v", took)
	}
	if err := s.Close(true); err == nil {
		t.Error("closing reports that it gave the lease back to an etcd that is gone")
	}
}
