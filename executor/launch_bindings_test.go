package executor

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// A binding has nothing that variables of the scenario or the shell select.
func TestBindingOmitsWhatVariablesSelect(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		want string
	}{
		{nil, "rank 0, GPUs 1, NICs mlx5_0:1"},
		{map[string]string{"CUDA_VISIBLE_DEVICES": ""}, "rank 0, NICs mlx5_0:1"},
		{map[string]string{"UCX_NET_DEVICES": "all", "UCX_TLS": "rc"}, "rank 0, GPUs 1"},
	} {
		for i := range 3 {
			others := make([]map[string]string, 3)
			others[i] = c.set
			binding := results.Binding{GPUs: []string{"1"}, NICs: []string{"mlx5_0:1"}}
			if withoutVariables(&binding, others...); binding.String() != c.want {
				t.Errorf("%v: %v, want %s", others, binding, c.want)
			}
		}
	}
}

// The session continues on another node when one is lost, and the launch records it.
func TestSessionGoesOnElsewhere(t *testing.T) {
	b := newBench(t)
	c := aCase("c", func(c *planner.Case) { c.Place.Nodes = 1 })
	o := b.options()
	o.Nodes = []string{"n1", "n2"}
	var s *session
	o.Events = func(e event.Event) {
		b.events = append(b.events, e)
		if e.Type == event.CaseMeasured && b.count(event.CaseMeasured, "c") == 1 {
			s.Lost("n1", "it was cut off")
		}
	}
	s = newSession(aPlan([]*planner.Case{c}, aGroup("c", []*planner.Case{c}, 3)), o)
	if err := s.conclude(t.Context(), s.run(t.Context())); err != nil {
		t.Fatal(err)
	}
	launches := s.ledger.Doc.Case("c").Launches
	if len(launches) != 3 || launches[0].Nodes[0] != "n1" || launches[1].Nodes[0] != "n2" ||
		launches[2].Nodes[0] != "n2" {
		t.Fatalf("%d launches, status %s: %s", len(launches), s.ledger.Doc.Case("c").Status,
			s.ledger.Doc.Case("c").Reason)
	}
	if got := launches[1].Moved; len(got) != 1 || got[0].String() != "node n2 instead of n1: its agent is gone" ||
		launches[0].Moved != nil || launches[2].Moved != nil {
		t.Errorf("%v, %v, %v", launches[0].Moved, got, launches[2].Moved)
	}
	if b.count(event.NodeChanged, "") != 1 {
		t.Error("no event reports it")
	}
}

func TestRanksRunOnTheProcessorsOfTheirBindings(t *testing.T) {
	b := newBench(t)
	doc := b.run(onePlan(aCase("c", func(c *planner.Case) { c.Place.CPUsPerRank = 1 })))
	c := doc.Case("c")
	if doc.Environment.Nodes[0].CPU.Allowed < 2 {
		if c.Status != results.Error || !strings.Contains(c.Reason, "CPUs on node") {
			t.Errorf("%s: %s", c.Status, c.Reason)
		}
		t.Skip("one processor is not enough for two ranks")
	}
	bindings := c.Launches[0].Bindings
	if c.Status != results.OK || len(bindings) != 2 || bindings[0].CPUs == "" || bindings[0].CPUs == bindings[1].CPUs {
		t.Errorf("%s (%s) with %v", c.Status, c.Reason, bindings)
	}
}
