package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shortDir is a directory whose path leaves room for a socket's name; that of
// t.TempDir holds the test's name and may not.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func startServer(t testing.TB) *Server {
	t.Helper()
	s, err := StartServer(t.Context(), shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func openSession(t testing.TB, server *Server, id string) *Session {
	t.Helper()
	s, err := Open(t.Context(), []string{server.Endpoint()}, id)
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

func next[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-c:
		if !ok {
			t.Fatalf("%s: the watch ended", what)
		}
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: nothing came", what)
	}
	panic("unreachable")
}

func TestAgentsAreSeenComingAndGoing(t *testing.T) {
	server := startServer(t)
	coordinator := openSession(t, server, "s")
	early := openSession(t, server, "s")
	if err := early.Join(t.Context(), "n1", []byte("one")); err != nil {
		t.Fatal(err)
	}
	members, err := coordinator.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Member{Node: "n1", Inventory: []byte("one")}, next(t, "n1", members)); diff != "" {
		t.Error(diff)
	}
	late, err := Open(t.Context(), []string{server.Endpoint()}, "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := late.Join(t.Context(), "n2", []byte("two")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Member{Node: "n2", Inventory: []byte("two")}, next(t, "n2", members)); diff != "" {
		t.Error(diff)
	}
	if err := late.Join(t.Context(), "n1", nil); err == nil || !strings.Contains(err.Error(), "n1") {
		t.Errorf("two agents may call themselves n1: %v", err)
	}
	if err := late.Close(false); err != nil {
		t.Fatal(err)
	}
	if gone := next(t, "n2 going", members); !gone.Gone || gone.Node != "n2" {
		t.Errorf("got %+v, want n2 gone", gone)
	}
}

func TestTasksReachTheirNodeOnly(t *testing.T) {
	server := startServer(t)
	coordinator, agent := openSession(t, server, "s"), openSession(t, server, "s")
	if err := coordinator.Place(t.Context(), "n1", "l0", []byte("before")); err != nil {
		t.Fatal(err)
	}
	tasks, err := agent.Placements(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Place(t.Context(), "n2", "l1", []byte("other")); err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Place(t.Context(), "n1", "l1", []byte("after")); err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Withdraw(t.Context(), "l0", []string{"n1", "n2"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []Placement{
		{Task: "l0", Spec: []byte("before")}, {Task: "l1", Spec: []byte("after")}, {Task: "l0", Withdrawn: true},
	} {
		if diff := cmp.Diff(want, next(t, want.Task, tasks)); diff != "" {
			t.Error(diff)
		}
	}
}

// until waits for news until done says so.
func until(t *testing.T, r *Rendezvous, done func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for !done() {
		select {
		case <-r.Changed():
		case <-deadline:
			t.Fatal("what the test waits for did not happen")
		}
	}
}

func TestRanksOfTwoAgentsMeet(t *testing.T) {
	server := startServer(t)
	const ranks = 130 // more than fit into one transaction
	var meeting [2]*Rendezvous
	for i := range meeting {
		m, err := openSession(t, server, "s").Meet(t.Context(), "l", ranks)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		meeting[i] = m
	}
	mine := [2]map[int][]byte{{}, {}}
	var want [][]byte
	for r := range ranks {
		blob := []byte(fmt.Sprintf("address of %d", r))
		want = append(want, blob)
		mine[r%2][r] = blob
	}
	if err := meeting[0].Publish(t.Context(), mine[0]); err != nil {
		t.Fatal(err)
	}
	var missing *MissingError
	until(t, meeting[0], func() bool {
		_, err := meeting[0].Addresses()
		return errors.As(err, &missing) && len(missing.Ranks) == ranks/2
	})
	if missing.Ranks[0] != 1 {
		t.Errorf("rank 0 has published and rank 1 has not, but it says: %v", missing)
	}
	if err := meeting[1].Publish(t.Context(), mine[1]); err != nil {
		t.Fatal(err)
	}
	for i, m := range meeting {
		until(t, m, func() bool { _, err := m.Addresses(); return err == nil })
		got, _ := m.Addresses()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("agent %d: %s", i, diff)
		}
	}
}

func TestBarrierNamesWhoIsMissing(t *testing.T) {
	server := startServer(t)
	m, err := openSession(t, server, "s").Meet(t.Context(), "l", 4)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Arrive(t.Context(), 1, []int{0, 2}); err != nil {
		t.Fatal(err)
	}
	until(t, m, func() bool { return m.Barrier(1).Error() == "barrier 1: waiting for ranks 1, 3" })
	if err := m.Arrive(t.Context(), 2, []int{0, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	until(t, m, func() bool { return m.Barrier(2) == nil })
	if m.Barrier(1) == nil {
		t.Error("coming to barrier 2 opened barrier 1")
	}
	if err := m.Arrive(t.Context(), 1, []int{1, 3}); err != nil {
		t.Fatal(err)
	}
	until(t, m, func() bool { return m.Barrier(1) == nil })
}

func TestAbortOfALaunchIsSeenByLateComers(t *testing.T) {
	server := startServer(t)
	s := openSession(t, server, "s")
	m, err := s.Meet(t.Context(), "l", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, reason := range []string{"rank 1 died", "rank 0 heard nothing"} {
		if err := s.Abort(t.Context(), "l", reason); err != nil {
			t.Fatal(err)
		}
	}
	late, err := s.Meet(t.Context(), "l", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if got, ok := late.Aborted(); !ok || got != "rank 1 died" {
		t.Errorf("got %q, %v", got, ok)
	}
}

func TestNothingStays(t *testing.T) {
	server := startServer(t)
	observer := openSession(t, server, "observer")
	keys := func() int {
		n, err := observer.Keys(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	agent, err := Open(t.Context(), []string{server.Endpoint()}, "s")
	if err != nil {
		t.Fatal(err)
	}
	coordinator := openSession(t, server, "s")
	m, err := agent.Meet(t.Context(), "l", 2)
	if err != nil {
		t.Fatal(err)
	}
	steps := []error{
		agent.Join(t.Context(), "n1", nil),
		coordinator.Place(t.Context(), "n1", "l", nil),
		m.Publish(t.Context(), map[int][]byte{0: nil, 1: nil}),
		m.Arrive(t.Context(), 1, []int{0, 1}),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	if n := keys(); n != 6 {
		t.Errorf("%d keys in the middle of a launch, want 6", n)
	}
	m.Close()
	if err := coordinator.Forget(t.Context(), "l", []string{"n1"}); err != nil {
		t.Fatal(err)
	}
	if n := keys(); n != 1 {
		t.Errorf("%d keys after the launch, want the member's only", n)
	}
	if err := agent.Close(false); err != nil {
		t.Fatal(err)
	}
	if n := keys(); n != 0 {
		t.Errorf("%d keys after the agent left", n)
	}
	if err := coordinator.Place(t.Context(), "n2", "l", nil); err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Wipe(false); err != nil {
		t.Fatal(err)
	}
	if n := keys(); n != 0 {
		t.Errorf("%d keys after the session was wiped", n)
	}
}

func TestLosingEtcdIsNoticed(t *testing.T) {
	server, err := StartServer(t.Context(), shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), []string{server.Endpoint()}, "s", 1)
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	select {
	case <-s.Lost():
	case <-time.After(10 * time.Second):
		t.Error("etcd is gone and the session does not know")
	}
	if err := s.Close(false); err == nil {
		t.Error("closing claims to have given the lease back to an etcd that is gone")
	}
}

func TestBadNamesAndPathsAreRefused(t *testing.T) {
	if _, err := Open(t.Context(), []string{"unix:///nowhere"}, "a/b"); err == nil || !strings.Contains(err.Error(), "a/b") {
		t.Errorf("session a/b: %v", err)
	}
	long := strings.Repeat("x", maxSocketPath)
	if _, err := StartServer(t.Context(), "/"+long); err == nil || !strings.Contains(err.Error(), "socket") {
		t.Errorf("a path too long for a socket: %v", err)
	}
}

func TestOpenGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := Open(ctx, []string{"unix:///nonexistent/socket"}, "s"); err == nil {
		t.Error("connected to nothing")
	}
	if took := time.Since(begin); took > 4500*time.Millisecond { // without its context it would try for 5 s
		t.Errorf("took %v to give up", took)
	}
}

func BenchmarkServer(b *testing.B) {
	for b.Loop() {
		dir := shortDir(b)
		s, err := StartServer(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
