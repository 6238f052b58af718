package native

import (
	"maps"
	"slices"
	"testing"

	"weir/fabric"
)

// A fabric that the engine has can be asked for in a scenario, and one that can be asked
// for and moves bytes is the engine's.
func TestScenariosAndEngineHaveTheSameFabrics(t *testing.T) {
	want := slices.Sorted(slices.Values(fabric.Names()))
	if got := slices.Sorted(maps.Keys(native{}.Probe(nil))); !slices.Equal(got, want) {
		t.Errorf("the engine has %v (WEIR_FABRICS in fabric.h), scenarios may name %v (All in package fabric)", got, want)
	}
}
