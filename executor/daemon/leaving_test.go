package daemon

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/executor/lab/board"
	"weir/executor/link"
	"weir/executor/trust"
	"weir/test/phase"
)

// wire leads to an address, and can be cut with all that goes over it.
type wire struct {
	listener net.Listener
	mu       sync.Mutex
	ends     []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l}
	t.Cleanup(w.cut)
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			w.mu.Lock()
			w.ends = append(w.ends, near, far)
			w.mu.Unlock()
			go io.Copy(near, far)
			go io.Copy(far, near)
		}
	}()
	return w
}

func (w *wire) cut() {
	w.listener.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.ends {
		c.Close()
	}
}

// An agent that is told to end when its coordinator is gone, and with it the way to
// etcd, knows so within a link's silence and does not wait longer for either: what
// started it kills what does not end.
func TestAnAgentEndsWithoutItsCoordinator(t *testing.T) {
	phase.Long(t)
	notices := board.New(t)
	a := authority(t)
	server, err := link.NewServer(link.ServerOptions{
		Identity: issued(t, a, trust.Coordinator, "c1"), Session: board.ID, Etcd: notices.Etcd.Dial,
		Take: func(string, link.Message) error { return nil }, Up: func(string, string) error { return nil },
		Down: func(string, error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	at, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	way := newWire(t, at.String())
	members, err := notices.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() {
		ended <- Bootstrapped(ctx, Options{Node: "n1", RankCommand: []string{"/bin/false"},
			ProbeCommand: []string{"/bin/false"}, Say: func(string) {}}, trust.Bootstrap{
			Session: board.ID, Node: "n1", Identity: issued(t, a, trust.Agent, "n1"),
			Coordinator: []string{way.listener.Addr().String()}, SessionKey: notices.Key.Public(),
		}, nil)
	}()
	select {
	case <-members:
	case err := <-ended:
		t.Fatalf("the agent has not joined: %v", err)
	}
	way.cut()
	begun := time.Now()
	end()
	<-ended
	// giving a lease back may take 10 s where there is somebody to take it
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("it took %v", took)
	}
}

// An agent whose pipe ends before its coordinator has spoken ends too: nobody can make it
// another, and what started it waits for it.
func TestAnAgentEndsWithItsPipe(t *testing.T) {
	ours, theirs := net.Pipe()
	time.AfterFunc(100*time.Millisecond, func() { theirs.Close() })
	begun := time.Now()
	err := Bootstrapped(t.Context(), Options{Node: "n1", Say: func(string) {}}, trust.Bootstrap{
		Session: board.ID, Node: "n1", Identity: issued(t, authority(t), trust.Agent, "n1"),
		Coordinator: []string{trust.Stdio}, SessionKey: make([]byte, 32),
	}, ours)
	if err == nil || !strings.Contains(err.Error(), "the pipe to the coordinator was closed") {
		t.Errorf("it ends with %v", err)
	}
	if took := time.Since(begun); took > meeting/2 {
		t.Errorf("it took %v", took)
	}
}
