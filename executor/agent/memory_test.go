package agent

import (
	"errors"
	"testing"

	"weir/engine"
	"weir/results"
)

// taking is an engine of which each rank tells whom it was opened as.
type taking chan engine.Identity

func (taking) Probe([]string) map[string]results.Fabric { return nil }

func (e taking) Open(_ engine.Launch, self engine.Identity, _ *engine.Control) (engine.Rank, error) {
	e <- self
	return nil, errors.New("opened")
}

// All ranks of a node are told one thing of its memory: what it had before any of them
// was there to take some.
func TestRanksAreToldWhatMemoryThereWas(t *testing.T) {
	e := make(taking, 3)
	l := &launch{
		a: &Agent{o: Options{Engine: e}}, task: &assignment{launch: engine.Launch{Ranks: 3,
			Cases: []engine.Case{{Key: "a"}}}}, events: make(chan event, 100), over: make(chan struct{}),
	}
	l.task.Ranks = []int{0, 1, 2}
	defer close(l.over)
	l.spawn(t.TempDir(), nil)
	first := <-e
	for range 2 {
		if other := <-e; first.Memory == nil || first.Memory.Available == 0 || other.Memory != first.Memory {
			t.Errorf("one is told %+v, another %+v", first.Memory, other.Memory)
		}
	}
}
