package fleet

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/test/phase"
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

// An agent that is told to end when its coordinator is gone knows so within a link's silence and does
// not wait longer: what started it kills what does not end.
func TestAnAgentEndsWithoutItsCoordinator(t *testing.T) {
	phase.Long(t)
	a, joined := authority(t), make(chan string, 1)
	var server *link.Server
	server, err := link.NewServer(link.ServerOptions{
		Credentials: issued(t, a, link.Coordinator, "c1").Fixed(), Session: "s",
		Take: func(node string, m link.Message) error {
			if r, err := agent.DecodeReport(node, m.Head, m.Body); err == nil && r.Joined != nil {
				joined <- node
			}
			return nil
		},
		Up: func(node, _ string) error {
			head, body, err := agent.Order{Setup: &agent.Setup{}}.Encode()
			if err != nil {
				return err
			}
			return server.Send(node, link.Message{Head: head, Body: body})
		},
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
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() {
		ended <- RunBootstrapped(ctx, AgentOptions{Options: agent.Options{
			Node: "n1", RankCommand: []string{"/bin/false"}, ProbeCommand: []string{"/bin/false"},
		}, Say: func(string) {}}, launcher.Bootstrap{
			Session: "s", Node: "n1", Identity: issued(t, a, link.Agent, "n1"),
			Coordinator: []string{way.listener.Addr().String()},
		}, nil)
	}()
	select {
	case <-joined:
	case err := <-ended:
		t.Fatalf("the agent has not joined: %v", err)
	}
	way.cut()
	begun := time.Now()
	end()
	<-ended
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("it took %v", took)
	}
}

// An agent ends if its pipe ends before the coordinator has sent anything: it cannot reconnect, and its
// launcher waits for it.
func TestAnAgentEndsWithItsPipe(t *testing.T) {
	ours, theirs := net.Pipe()
	time.AfterFunc(100*time.Millisecond, func() { theirs.Close() })
	begun := time.Now()
	o := AgentOptions{Options: agent.Options{Node: "n1"}, Say: func(string) {}}
	err := RunBootstrapped(t.Context(), o, launcher.Bootstrap{
		Session: "s", Node: "n1", Identity: issued(t, authority(t), link.Agent, "n1"),
		Coordinator: []string{launcher.Stdio},
	}, ours)
	if err == nil || !strings.Contains(err.Error(), "the pipe to the coordinator was closed") {
		t.Errorf("it ends with %v", err)
	}
	if took := time.Since(begun); took > dialTimeout/2 {
		t.Errorf("it took %v", took)
	}
}
