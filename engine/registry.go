package engine

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"weir/results"
)

// runners are those of this program, by name.
var runners = map[string]Runner{}

// simulations are those of this program, by the name of their runner.
var simulations = map[string]Simulation{}

var prober Prober

// Register adds a runner of ranks; its package does so when it is linked in.
func Register(name string, r Runner) { runners[name] = r }

// RegisterSimulation adds a runner whose launches are simulated.
func RegisterSimulation(name string, s Simulation) { simulations[name] = s }

// SimulationOf finds the simulation of a runner.
func SimulationOf(name string) (Simulation, bool) {
	s, ok := simulations[name]
	return s, ok
}

// SimulatedFabrics are those of all simulations.
func SimulatedFabrics() map[string]results.Fabric {
	all := map[string]results.Fabric{}
	for _, s := range simulations {
		maps.Copy(all, s.Fabrics)
	}
	return all
}

// RegisterProber sets what probes hosts.
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

// RunsCommands says whether ranks of a runner run programs that a scenario names.
func RunsCommands(runner string) bool {
	_, commands := runners[runner].(Commands)
	return commands
}

// RevealedBy are the variables of their environment whose values ranks of a launch send to where
// a scenario says.
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

// Native is the runner in C that moves bytes.
const Native = "native"

// DefaultProber is the registered prober.
func DefaultProber() (Prober, error) {
	if prober == nil {
		return nil, errWithoutCgo()
	}
	return prober, nil
}

func errWithoutCgo() error {
	return fmt.Errorf("%s was built without cgo: it can plan, judge and report, but it cannot move bytes; build it with CGO_ENABLED=1 and a C compiler",
		os.Args[0])
}
