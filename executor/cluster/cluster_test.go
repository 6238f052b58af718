package cluster

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/test/phase"
)

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

func at(url string) Config { return Config{Endpoints: []string{url}} }

func openSession(t testing.TB, server *Server, id string) *Session {
	t.Helper()
	s, err := Open(t.Context(), server.Config(), id)
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
	if diff := cmp.Diff(Member{Node: "n1", Inventory: []byte("one")}, next(t, "n1", members),
		cmpopts.IgnoreUnexported(Member{})); diff != "" {
		t.Error(diff)
	}
	late, err := Open(t.Context(), server.Config(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := late.Join(t.Context(), "n2", []byte("two")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Member{Node: "n2", Inventory: []byte("two")}, next(t, "n2", members),
		cmpopts.IgnoreUnexported(Member{})); diff != "" {
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
	if err := coordinator.Place(t.Context(), "l0", map[string][]byte{"n1": []byte("before")}); err != nil {
		t.Fatal(err)
	}
	tasks, err := agent.Placements(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Place(t.Context(), "l1",
		map[string][]byte{"n1": []byte("after"), "n2": []byte("other")}); err != nil {
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
	agent, err := Open(t.Context(), server.Config(), "s")
	if err != nil {
		t.Fatal(err)
	}
	coordinator := openSession(t, server, "s")
	m, err := agent.Meet(t.Context(), "l", "n1", []int{0, 1}, 4)
	if err != nil {
		t.Fatal(err)
	}
	steps := []error{
		agent.Join(t.Context(), "n1", nil),
		coordinator.Place(t.Context(), "l", map[string][]byte{"n1": nil}),
		m.Publish(t.Context(), map[int][]byte{0: nil, 1: nil}),
		m.Arrive(t.Context()),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	if n := keys(); n != 4 {
		t.Errorf("%d keys in the middle of a launch, want 4", n)
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
	if err := coordinator.Place(t.Context(), "l", map[string][]byte{"n2": nil}); err != nil {
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
	phase.Long(t)
	server, err := StartServer(t.Context(), shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), server.Config(), "s", patience{time.Second, 2 * time.Second})
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
	if _, err := Open(t.Context(), at("unix:///nowhere"), "a/b"); err == nil || !strings.Contains(err.Error(), "a/b") {
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
	if _, err := Open(ctx, at("unix:///nonexistent/socket"), "s"); err == nil {
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
