package engine

import (
	"fmt"
	"github.com/weir-bench/weir/results"
	"maps"
	"os"
	"slices"
	"strings"
)

// runners are the registered runners by name.
var runners = map[string]Runner{}

// simulations are the registered simulations by the name of their runner.
var simulations = map[string]Simulation{}

var prober Prober

// Register adds a runner. Packages of runners call it in their init.
func Register(name string, r Runner) { runners[name] = r }

// RegisterSimulation adds a runner of simulated launches.
func RegisterSimulation(name string, s Simulation) { simulations[name] = s }

// SimulationOf finds the simulation of a runner.
func SimulationOf(name string) (Simulation, bool) {
	s, ok := simulations[name]
	return s, ok
}

// SimulatedFabrics returns the fabrics of all simulations.
func SimulatedFabrics() map[string]results.Fabric {
	all := map[string]results.Fabric{}
	for _, s := range simulations {
		maps.Copy(all, s.Fabrics)
	}
	return all
}

// RegisterProber sets the prober of hosts.
func RegisterProber(p Prober) { prober = p }

// RunnerOf finds a runner. A program built without cgo lacks those that need it.
func RunnerOf(name string) (Runner, error) {
	if r, ok := runners[name]; ok {
		return r, nil
	}
	if name == Native {
		return nil, errWithoutCgo()
	}
	var names []string
	for name := range runners {
		names = append(names, name)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("this weir has no runner %q; it has %s", name, strings.Join(names, ", "))
}

// RunsCommands reports whether ranks of a runner run programs that a scenario names.
func RunsCommands(runner string) bool {
	_, commands := runners[runner].(Commands)
	return commands
}

// RevealedBy returns the environment variables that ranks of a launch send to an address of the scenario.
func RevealedBy(l Launch) (names []string, err error) {
	r, ok := runners[l.Runner].(Revealing)
	if !ok {
		return nil, nil
	}
	for _, c := range l.Cases {
		some, err := r.Reveals(c)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Native is the runner that moves bytes, in C.
const Native = "native"

// DefaultProber is the registered prober.
func DefaultProber() (Prober, error) {
	if prober == nil {
		return nil, errWithoutCgo()
	}
	return prober, nil
}

func errWithoutCgo() error {
	return fmt.Errorf("%s was built without cgo: it can plan, judge and report, but not move bytes; build it with CGO_ENABLED=1 and a C compiler",
		os.Args[0])
}
