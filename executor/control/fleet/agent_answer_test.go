package fleet

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/test/phase"
)

// What an agent has told a session that it lost is taken back, although etcd is away for longer
// than telling it may take.
func TestAnAnswerIsTakenBackWhenEtcdIsBack(t *testing.T) {
	phase.Long(t)
	server, err := registry.StartServer(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var away atomic.Bool
	var mu sync.Mutex
	var open []net.Conn
	config := server.Config()
	config.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
		if away.Load() {
			return nil, errors.New("etcd is away")
		}
		c, err := server.Dial(ctx)
		if err == nil {
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
		}
		return c, err
	}
	dir, err := registry.OpenDirectory(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close(false)
	reader, err := registry.OpenDirectory(t.Context(), server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close(false)
	session, err := registry.Open(t.Context(), server.Config(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(false)
	if err := session.Invite(t.Context(), "n1", []byte("come")); err != nil {
		t.Fatal(err)
	}
	answer := answerIn(t.Context(), dir, "n1")
	answer("s1", "no link")
	if why, err := reader.Refusal(t.Context(), "n1", "s1"); err != nil || why != "no link" {
		t.Fatalf("it says %q, %v", why, err)
	}
	away.Store(true)
	mu.Lock()
	for _, c := range open {
		c.Close()
	}
	mu.Unlock()
	time.AfterFunc(3*retryPause, func() { away.Store(false) })
	answer("s1", "")
	if why, err := reader.Refusal(t.Context(), "n1", "s1"); err != nil || why != "" {
		t.Errorf("it still says %q, %v", why, err)
	}
}
