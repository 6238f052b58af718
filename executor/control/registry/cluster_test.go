package registry

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/phase"
)

// shortDir is a directory with a path short enough for a socket; t.TempDir has the test's name in it.
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

// Nothing of a session stays: neither what it wrote nor what was written below its name.
func TestNothingStays(t *testing.T) {
	server := startServer(t)
	observer := openSession(t, server, "observer")
	s, err := Open(t.Context(), server.Config(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Announce(t.Context(), nil), s.Reserve(t.Context(), "n1", Reservation{}),
		s.Invite(t.Context(), "n1", []byte("x"))); err != nil {
		t.Fatal(err)
	}
	if _, err := observer.etcd.Put(t.Context(), s.prefix+lentDir+"l/key", "of a program"); err != nil {
		t.Fatal(err)
	}
	if n := keysOf(t, observer, "s"); n != 2 {
		t.Errorf("%d keys, want 2", n)
	}
	if err := s.Wipe(false); err != nil {
		t.Fatal(err)
	}
	if n := keysOf(t, observer, "s"); n != 0 {
		t.Errorf("%d keys after the session was wiped", n)
	}
	if err := s.Close(false); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{claimsDir, invitesDir} {
		if n := keysOf(t, observer, dir+"n1"); n != 0 {
			t.Errorf("%d keys in %s", n, dir)
		}
	}
}

// keysOf is how many keys a session has.
func keysOf(t testing.TB, s *Session, id string) int {
	t.Helper()
	n, err := s.Keys(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLosingEtcdIsNoticed(t *testing.T) {
	phase.Long(t)
	server, err := StartServer(t.Context(), shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), server.Config(), "s", timeouts{time.Second, 2 * time.Second})
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
		t.Error("closing reports that it gave the lease back to an etcd that is gone")
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
