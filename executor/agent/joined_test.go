package agent

import (
	"testing"

	"github.com/weir-bench/weir/results"
)

// coordinator is the other side of an agent under test.
type coordinator struct{ *Agent }

// joined is an agent with its coordinator; o are options besides the required ones.
func joined(t *testing.T, o Options) (*coordinator, <-chan Report) {
	t.Helper()
	reports := make(chan Report, 16)
	o.Node, o.Session, o.ScratchDir = "n1", "s", t.TempDir()
	if o.RankCommand == nil {
		o.RankCommand = []string{"/bin/false"}
	}
	if o.LogDir == "" {
		o.LogDir = t.TempDir()
	}
	o.Sink = func(r Report) {
		r.Node = "n1"
		reports <- r
	}
	a := New(o)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	a.Join(results.Node{})
	return &coordinator{a}, reports
}

// place sends a task as a session does.
func (c *coordinator) place(task string, do Task) { c.Take(Order{Task: task, Do: &do}) }
