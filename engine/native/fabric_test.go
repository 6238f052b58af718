package native

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
)

// Scenarios accept exactly the fabrics of the engine.
func TestScenariosAndEngineHaveTheSameFabrics(t *testing.T) {
	want := slices.Sorted(slices.Values(fabric.Names()))
	if got := slices.Sorted(maps.Keys(native{}.Probe(nil))); !slices.Equal(got, want) {
		t.Errorf("the engine has %v (WEIR_FABRICS in fabric.h), scenarios may name %v (All in package fabric)", got,
			want)
	}
}

// Package fabric and the table of a fabric agree about other hosts.
func TestFabricsThatReachOtherHosts(t *testing.T) {
	for _, f := range fabric.All {
		if f.Simulated {
			continue
		}
		o := options(8)
		if f.Name == "cuda" { // it refuses pairs without GPU memory
			o.Target = "vram"
		}
		l := engine.Launch{
			Fabric: f.Name, Ranks: 2, Nodes: []string{"a", "b"},
			Cases: []engine.Case{caseOf("a", o, patience, patience)},
		}
		_, err := open(l, engine.Identity{}, control(t)) // its library may not be installed
		if refused := err != nil && strings.Contains(err.Error(), "does not reach other hosts"); refused == f.Network {
			t.Errorf("fabric %s: network %v, but opening it gives %v", f.Name, f.Network, err)
		}
	}
}

// A value that the fabric does not have is an error that names its option.
func TestFabricRefusesAnUnknownValue(t *testing.T) {
	needs(t, "ucx")
	_, err := tryCases(t, "ucx", 2, options(8, withOptions("datatype", "strided")))
	if want := `option datatype is "strided", not one of its values`; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
