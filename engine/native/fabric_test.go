package native

import (
	"maps"
	"slices"
	"testing"

	"weir/engine"
	"weir/workload/move"
	"weir/workload/transfer"
)

// A fabric that the engine has can be asked for in a scenario, and one that can be asked
// for is the engine's: but auto, which is none, and sim, which another engine plays.
func TestScenariosAndEngineHaveTheSameFabrics(t *testing.T) {
	o, ok := transfer.Kind.Option("fabric")
	if !ok {
		t.Fatal("workload transfer has no option fabric")
	}
	others := []string{engine.Auto, move.SimFabric}
	want := slices.DeleteFunc(slices.Clone(o.Values), func(f string) bool { return slices.Contains(others, f) })
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(native{}.Probe(nil))); !slices.Equal(got, want) {
		t.Errorf("the engine has %v (WEIR_FABRICS in fabric.h), scenarios may name %v (option fabric in package workload)", got, want)
	}
}
