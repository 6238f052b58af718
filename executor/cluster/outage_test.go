package cluster

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

	"weir/test/phase"
)

// short has times that a test can wait for, in the order of those that users have: an
// outage is shorter than a lease, and both are than the silence in which etcd is given up.
// The lease outlives the outage by far, so that a busy machine renews it in time.
var short = patience{ttl: 12 * time.Second, silence: 60 * time.Second}

const outage = 3 * time.Second

func openAt(t *testing.T, c Config, id string, p patience) *Session {
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

// pair is a coordinator and an agent, each with a watch on the other.
type pair struct {
	t                  *testing.T
	coordinator, agent *Session
	members            <-chan Member
	placements         <-chan Placement
	tasks              int
}

func newPair(t *testing.T, c Config, id string) *pair {
	t.Helper()
	p := &pair{t: t, coordinator: openAt(t, c, id, short), agent: openAt(t, c, id, short)}
	var err error
	if p.members, err = p.coordinator.Members(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.placements, err = p.agent.Placements(t.Context(), "n0"); err != nil {
		t.Fatal(err)
	}
	if err := p.agent.Join(t.Context(), "n0", nil); err != nil {
		t.Fatal(err)
	}
	if m := next(t, "the agent", p.members); m.Node != "n0" || m.Gone {
		t.Fatalf("%+v", m)
	}
	return p
}

// works holds them to a whole launch of two nodes, and to having lost nothing before.
func (p *pair) works(when string) {
	p.t.Helper()
	p.tasks++
	task, nodes := fmt.Sprintf("l%d", p.tasks), []string{"n0", "n1"}
	h, err := p.coordinator.Host(p.t.Context(), task, nodes)
	if err != nil {
		p.t.Fatalf("%s: %v", when, err)
	}
	defer h.Close()
	if err := p.coordinator.Place(p.t.Context(), task, map[string][]byte{"n0": []byte(when)}); err != nil {
		p.t.Fatalf("%s: %v", when, err)
	}
	if got := next(p.t, when, p.placements); got.Task != task || string(got.Spec) != when {
		p.t.Fatalf("%s: got %+v", when, got)
	}
	var meetings []*Rendezvous
	for rank, node := range nodes {
		m, err := p.agent.Meet(p.t.Context(), task, node, []int{rank}, 2)
		if err != nil {
			p.t.Fatalf("%s: %v", when, err)
		}
		defer m.Close()
		if err := m.Publish(p.t.Context(), map[int][]byte{rank: []byte(node)}); err != nil {
			p.t.Fatalf("%s: %v", when, err)
		}
		meetings = append(meetings, m)
	}
	for _, m := range meetings {
		until(p.t, m, func() bool { return m.Addresses() != nil })
		if err := m.Arrive(p.t.Context()); err != nil {
			p.t.Fatalf("%s: %v", when, err)
		}
	}
	for _, m := range meetings {
		until(p.t, m, m.Started)
	}
	if err := p.coordinator.Forget(p.t.Context(), task, nodes[:1]); err != nil {
		p.t.Fatalf("%s: %v", when, err)
	}
	if got := next(p.t, when, p.placements); got.Task != task || !got.Withdrawn {
		p.t.Fatalf("%s: got %+v", when, got)
	}
	select {
	case <-p.coordinator.Lost():
		p.t.Fatalf("%s: the coordinator's lease is lost", when)
	case <-p.agent.Lost():
		p.t.Fatalf("%s: the agent's lease is lost", when)
	case m := <-p.members:
		p.t.Fatalf("%s: the agent seemed to come or go: %+v", when, m)
	default:
	}
	if n := keysOf(p.t, p.coordinator, p.coordinator.id); n != 1 {
		p.t.Errorf("%s: %d keys, want the member's only", when, n)
	}
}

// A session goes on after everything that happens to an etcd of three members: it waits,
// and it loses nothing. Two sessions do at once, and neither sees the other.
func TestSessionsOutliveWhatHappensToEtcd(t *testing.T) {
	t.Parallel()
	phase.Minutes(t)
	e := startEnsemble(t, 3, member{})
	a, b := newPair(t, e.config(), "a"), newPair(t, e.config(), "b")
	works := func(when string) {
		t.Helper()
		a.works(when)
		b.works(when)
	}
	works("in the beginning")

	leader := e.leader(a.agent.client)
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
		asked <- a.coordinator.Place(t.Context(), "meanwhile", map[string][]byte{"n0": []byte("patient")})
	}()
	time.Sleep(short.ttl + 2*time.Second) // longer than a lease: etcd begins anew to count
	select {
	case err := <-asked:
		t.Errorf("without any member it was placed, or given up: %v", err)
	default:
	}
	for i := range e.members {
		e.start(i)
	}
	if err := <-asked; err != nil {
		t.Error(err)
	}
	if got := next(t, "meanwhile", a.placements); got.Task != "meanwhile" || string(got.Spec) != "patient" {
		t.Errorf("%+v", got)
	}
	if err := a.coordinator.Forget(t.Context(), "meanwhile", []string{"n0"}); err != nil {
		t.Fatal(err)
	}
	next(t, "its end", a.placements)
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

// Who begins while etcd restarts waits for it if it was told to, and says so once.
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
	witness := openAt(t, c, "s", short)
	members, err := witness.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), e.config(), "s", patience{ttl: 2 * time.Second, silence: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	placements, err := s.Placements(t.Context(), "n0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Join(t.Context(), "n0", nil); err != nil {
		t.Fatal(err)
	}
	next(t, "n0", members)
	e.network.mu.Lock()
	if m := next(t, "the end of n0", members); !m.Gone {
		t.Errorf("%+v", m)
	}
	e.network.mu.Unlock()
	select {
	case <-s.Lost():
	case <-time.After(30 * time.Second):
		t.Fatal("the lease is gone and nobody knows")
	}
	if err := s.Place(t.Context(), "l", map[string][]byte{"n0": nil}); !errors.Is(err, errLeaseGone) {
		t.Errorf("writing without a lease: %v", err)
	}
	for range placements { // ends: whoever waits for tasks must know too
	}
	if err := s.Close(false); err != nil { // there is nothing left to give back
		t.Error(err)
	}
}

// Whoever leaves waits for an etcd that is away, but not for one that is known to be gone,
// also if that is known only while it leaves.
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
			if err := s.Join(t.Context(), "n0", nil); err != nil {
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

// What a launch and its members do must not be missed because etcd has forgotten it.
func TestWatchGoesOnAfterCompaction(t *testing.T) {
	t.Parallel()
	e := startEnsemble(t, 1, member{})
	writer := e.config()
	writer.Dial = nil
	w := openAt(t, writer, "s", short)
	s := openAt(t, e.config(), "s", short)
	for _, node := range []string{"goes", "stays", "again"} {
		if err := w.put(t.Context(), w.membersKey()+node, []byte("first")); err != nil {
			t.Fatal(err)
		}
	}
	members, err := s.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		next(t, "those that are there", members)
	}
	e.network.mu.Lock()
	for _, change := range []func() error{
		func() error { return w.commit(t.Context(), []clientv3.Op{clientv3.OpDelete(w.membersKey() + "goes")}) },
		func() error { return w.commit(t.Context(), []clientv3.Op{clientv3.OpDelete(w.membersKey() + "again")}) },
		func() error { return w.put(t.Context(), w.membersKey()+"again", []byte("second")) },
		func() error { return w.put(t.Context(), w.membersKey()+"comes", []byte("first")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.client.Get(t.Context(), "nothing")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Compact(t.Context(), got.Header.Revision); err != nil {
		t.Fatal(err)
	}
	// the connection breaks, so that the watch must begin again where it was
	e.kill(0)
	e.start(0)
	e.network.mu.Unlock()
	seen := map[string]int{}
	for range 4 {
		m := next(t, "what has changed", members)
		seen[fmt.Sprintf("%s %s %v", m.Node, m.Inventory, m.Gone)]++
	}
	for _, want := range []string{"goes  true", "again  true", "again second false", "comes first false"} {
		if seen[want] != 1 {
			t.Errorf("%q was told %d times: %v", want, seen[want], seen)
		}
	}
	if err := w.put(t.Context(), w.membersKey()+"later", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if m := next(t, "what comes later", members); m.Node != "later" {
		t.Errorf("%+v", m)
	}
}

// An etcd that is gone for good is given up in the end, and everybody is told why.
func TestEtcdThatStaysAwayIsGivenUp(t *testing.T) {
	phase.Long(t)
	t.Parallel()
	e := startEnsemble(t, 1, member{})
	s, err := open(t.Context(), e.config(), "s", patience{ttl: 2 * time.Second, silence: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	e.kill(0)
	began := time.Now()
	err = s.Place(context.Background(), "l", map[string][]byte{"n0": nil})
	if !errors.Is(err, errAway) || !strings.Contains(err.Error(), "placing l: ") {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("given up after %v", took)
	}
	if err := s.Close(true); err == nil {
		t.Error("closing claims to have given the lease back to an etcd that is gone")
	}
}
