package executor

import (
	"context"
	"testing"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/placement"
)

// orders keeps the orders of a session.
type orders []string

func (o *orders) Order(node string, order agent.Order) error {
	text := node + " abort"
	if order.Do != nil {
		text = node + " do"
	}
	*o = append(*o, text)
	return nil
}

// A node can be lost after a launch was placed on it and before its task starts, as while services start. Its agent
// then gets no order, and the session no further notice.
func TestATaskOnALostNodeEndsThere(t *testing.T) {
	s := newSession(onePlan(aCase("a")), Options{})
	var sent orders
	s.order = sent.Order
	s.nodes.Join("n1", placement.Node{})
	s.nodes.Join("n2", placement.Node{})
	s.Lost("n1", "its host was reset")
	var gone []string
	work := map[string]agent.Task{"n1": {}, "n2": {}}
	task, err := s.startTask(context.Background(), "t", work, []string{"n1", "n2"},
		func(agent.Report) bool { return true }, func(node, cause string) { gone = append(gone, node+": "+cause) })
	if err != nil {
		t.Fatal(err)
	}
	if len(gone) != 1 || gone[0] != "n1: its host was reset" || task.pending["n1"] || !task.pending["n2"] {
		t.Errorf("gone %q, pending %v", gone, task.pending)
	}
	if last := sent[len(sent)-1]; last != "n2 abort" {
		t.Errorf("the other node was not told to stop: %q", sent)
	}
}
