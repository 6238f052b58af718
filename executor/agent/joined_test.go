package agent

import (
	"context"
	"testing"

	"weir/executor/lab/board"
	"weir/executor/trust"
	"weir/results"
)

// coordinator is the other side of an agent under test.
type coordinator struct {
	*board.Board
	ctx    context.Context
	placed uint64
}

// joined is a coordinator and an agent on an etcd of their own; o is what the agent has
// besides what it needs.
func joined(t *testing.T, o Options) (*coordinator, <-chan Report) {
	t.Helper()
	b := board.New(t)
	reports := make(chan Report, 16)
	o.Node, o.Session, o.ScratchDir, o.Verifier = "n1", board.ID, b.Dir, b.Verifier
	if o.RankCommand == nil {
		o.RankCommand = []string{"/bin/false"}
	}
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
	if err := a.Serve(t.Context(), b.Etcd.Config(), results.Node{}); err != nil {
		t.Fatal(err)
	}
	return &coordinator{Board: b, ctx: t.Context()}, reports
}

// place places a task as a session does.
func (c *coordinator) place(task string, spec []byte) error {
	c.placed++
	return c.put(task, Seal(c.Key, trust.Subject{Session: board.ID, Node: "n1", Name: task}, c.placed, spec))
}

// put places what anybody could who can write to etcd.
func (c *coordinator) put(task string, text []byte) error {
	return c.Place(c.ctx, task, map[string][]byte{"n1": text})
}
