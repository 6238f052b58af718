package agent

import (
	"context"
	"os"
	"testing"

	"weir/executor/cluster"
	"weir/executor/trust"
	"weir/results"
)

// coordinator is the other side of an agent under test.
type coordinator struct {
	*cluster.Session
	ctx    context.Context
	key    *trust.Signer
	placed uint64
}

// joined is a coordinator and an agent on an etcd of their own; o is what the agent has
// besides what it needs.
func joined(t *testing.T, o Options) (*coordinator, <-chan Report) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ag") // t.TempDir's path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	server, err := cluster.StartServer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	s, err := cluster.Open(t.Context(), server.Config(), "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(false) })
	key, err := trust.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	if o.Verifier, err = trust.NewVerifier(key.Public()); err != nil {
		t.Fatal(err)
	}
	reports := make(chan Report, 16)
	o.Node, o.Session, o.RankCommand, o.ScratchDir = "n1", "s", []string{"/bin/false"}, dir
	if o.LogDir == "" {
		o.LogDir = t.TempDir()
	}
	o.Sink = func(r Report) { reports <- r }
	a := New(o)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := a.Serve(t.Context(), server.Config(), results.Node{}); err != nil {
		t.Fatal(err)
	}
	return &coordinator{Session: s, ctx: t.Context(), key: key}, reports
}

// place places a task as a session does.
func (c *coordinator) place(task string, spec []byte) error {
	c.placed++
	return c.put(task, Seal(c.key, trust.Subject{Session: "s", Node: "n1", Name: task}, c.placed, spec))
}

// put places what anybody could who can write to etcd.
func (c *coordinator) put(task string, text []byte) error {
	return c.Place(c.ctx, task, map[string][]byte{"n1": text})
}
