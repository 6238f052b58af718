package agent

import (
	"errors"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
)

// taking is an engine with ranks that report their identity.
type taking chan engine.Identity

func (taking) Probe([]string) map[string]results.Fabric { return nil }

func (e taking) Open(_ engine.Launch, self engine.Identity, _ *engine.Control) (engine.Rank, error) {
	e <- self
	return nil, errors.New("opened")
}

// All ranks of a node are told the same free memory: before any of them used some.
func TestRanksGetTheFreeMemory(t *testing.T) {
	e := make(taking, 3)
	l := &nodeLaunch{
		a: &Agent{o: Options{Engine: e}}, task: &assignment{launch: engine.Launch{Ranks: 3,
			Cases: []engine.Case{{Key: "a"}}}}, events: make(chan event, 100), over: make(chan struct{}),
	}
	l.task.Ranks = []int{0, 1, 2}
	defer close(l.over)
	l.startAll(t.TempDir(), nil)
	first := <-e
	for range 2 {
		if other := <-e; first.Memory == nil || first.Memory.Available == 0 || other.Memory != first.Memory {
			t.Errorf("one gets %+v, another %+v", first.Memory, other.Memory)
		}
	}
}
