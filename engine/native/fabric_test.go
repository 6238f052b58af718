package native

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"weir/engine"
	"weir/fabric"
	"weir/test/phase"
)

// A fabric that the engine has can be asked for in a scenario, and one that can be asked
// for and moves bytes is the engine's.
func TestScenariosAndEngineHaveTheSameFabrics(t *testing.T) {
	phase.NotUnderRace(t)
	want := slices.Sorted(slices.Values(fabric.Names()))
	if got := slices.Sorted(maps.Keys(native{}.Probe(nil))); !slices.Equal(got, want) {
		t.Errorf("the engine has %v (WEIR_FABRICS in fabric.h), scenarios may name %v (All in package fabric)", got,
			want)
	}
}

// Package fabric and the table of a fabric say the same of other hosts.
func TestFabricsThatReachOtherHosts(t *testing.T) {
	phase.NotUnderRace(t)
	for _, f := range fabric.All {
		if f.Simulated {
			continue
		}
		o := options(8)
		if f.Name == "cuda" { // it refuses pairs without a GPU's memory
			o.Target = "vram"
		}
		l := engine.Launch{
			Fabric: f.Name, Ranks: 2, Nodes: []string{"a", "b"},
			Cases: []engine.Case{caseOf("a", o, patience, patience)},
		}
		_, err := open(l, engine.Identity{}, control(t)) // its library may not be here
		if refused := err != nil && strings.Contains(err.Error(), "does not reach other hosts"); refused == f.Network {
			t.Errorf("fabric %s: network %v, but opening it gives %v", f.Name, f.Network, err)
		}
	}
}

// A value that the fabric does not have is an error that names its option.
func TestFabricRefusesAnUnknownValue(t *testing.T) {
	phase.NotUnderRace(t)
	needs(t, "ucx")
	_, err := tryCases(t, "ucx", 2, options(8, having("datatype", "strided")))
	if want := `option datatype is "strided", which is none of its values`; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
