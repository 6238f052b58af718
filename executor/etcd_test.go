package executor

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// slowEtcd is an etcd behind a proxy that can be blocked for a while.
func slowEtcd(t *testing.T) (endpoint string, shut func(time.Duration)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "se") // t.TempDir's path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	server, err := registry.StartServer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	door := filepath.Join(dir, "door")
	listener, err := net.Listen("unix", door)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { listener.Close() })
	var closed sync.RWMutex
	pass := func(to, from net.Conn) {
		defer to.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			closed.RLock()
			_, werr := to.Write(buf[:n])
			closed.RUnlock()
			if err != nil || werr != nil {
				return
			}
		}
	}
	wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			behind, err := net.Dial("unix", strings.TrimPrefix(server.Endpoint(), "unix://"))
			if err != nil {
				client.Close()
				continue
			}
			wg.Go(func() { pass(behind, client) })
			wg.Go(func() { pass(client, behind) })
		}
	})
	return "unix://" + door, func(d time.Duration) {
		closed.Lock()
		time.AfterFunc(d, closed.Unlock)
	}
}

// TestSlowEtcdIsNoFailure: results remain, even if closing the session takes long.
func TestSlowEtcdIsNoFailure(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	endpoint, shut := slowEtcd(t)
	doc := b.run(onePlan(aCase("c")), func(o *Options) {
		o.Etcd.Endpoints = []string{endpoint}
		events := o.Events
		o.Events = func(e event.Event) {
			if e.Type == event.CaseFinished {
				shut(3 * time.Second) // longer than it takes to give up on the launch's keys
			}
			events(e)
		}
	})
	if doc.Session.ExitCode != 0 || doc.Case("c").Status != results.OK {
		t.Errorf("session %+v", doc.Session)
	}
}

// etcdDir is a directory for an etcd.
func etcdDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "se") // short enough for a socket, and no part of what a session leaves
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
