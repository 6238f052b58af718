// Cycles of needs.

package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

// edge is a need with the run that has it.
type edge struct {
	from string
	need *dsl.Need
}

// edgesOf returns the runs that a run waits for or runs beside. It also waits for the needs of its
// background load.
func edgesOf(r *dsl.Run, runs []*dsl.Run) []*dsl.Need {
	all := slices.Clone(r.Needs)
	if r.While != nil {
		all = append(all, r.While)
	}
	for _, load := range runs {
		if load.While != nil && load.While.Run == r.Name {
			all = append(all, load.Needs...)
		}
	}
	return all
}

// findCycle walks the needs depth first, in file order, and returns the edges of the first cycle,
// nil if there is none.
func findCycle(runs []*dsl.Run) (cycle []edge) {
	done := map[string]bool{}
	var path []edge
	var visit func(name string) bool
	visit = func(name string) bool {
		if i := slices.IndexFunc(path, func(e edge) bool { return e.from == name }); i >= 0 {
			cycle = path[i:]
			return true
		}
		at := slices.IndexFunc(runs, func(r *dsl.Run) bool { return r.Name == name })
		if at < 0 || done[name] {
			return false
		}
		for _, n := range edgesOf(runs[at], runs) {
			path = append(path, edge{name, n})
			if visit(n.Run) {
				return true
			}
			path = path[:len(path)-1]
		}
		done[name] = true
		return false
	}
	for _, r := range runs {
		if visit(r.Name) {
			break
		}
	}
	return cycle
}

func cycleDiagnostic(cycle []edge) *hcl.Diagnostic {
	names := []string{cycle[0].from}
	var places []string
	for _, e := range cycle {
		names = append(names, e.need.Run)
		places = append(places, fmt.Sprintf("%s needs %s at %s:%d:%d", e.from, e.need.Run, e.need.Range.Filename,
			e.need.Range.Start.Line, e.need.Range.Start.Column))
	}
	return failure(cycle[0].need.Range, "Runs need each other", fmt.Sprintf("The cycle %s: %s.",
		strings.Join(names, " → "), strings.Join(places, ", ")), "Remove one of these needs.")
}
