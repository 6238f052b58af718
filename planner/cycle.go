package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// edge is a need together with the run that has it.
type edge struct {
	from string
	need *dsl.Need
}

// edgesOf are the runs that a run waits for, or runs beside: it also waits for what its background
// load waits for.
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

// findCycle walks the needs depth first, in file order, and returns the edges of
// the first cycle, nil if there is none.
func findCycle(runs []*dsl.Run) []edge {
	byName := map[string]*dsl.Run{}
	for _, r := range runs {
		byName[r.Name] = r
	}
	const active, done = 1, 2
	state := map[string]int{}
	var path, cycle []edge
	var visit func(r *dsl.Run) bool
	visit = func(r *dsl.Run) bool {
		state[r.Name] = active
		for _, n := range edgesOf(r, runs) {
			next, ok := byName[n.Run]
			if !ok || state[n.Run] == done {
				continue
			}
			path = append(path, edge{r.Name, n})
			if state[n.Run] == active {
				for i, e := range path {
					if e.from == n.Run {
						cycle = path[i:]
					}
				}
				return true
			}
			if visit(next) {
				return true
			}
			path = path[:len(path)-1]
		}
		state[r.Name] = done
		return false
	}
	for _, r := range runs {
		if state[r.Name] == 0 && visit(r) {
			return cycle
		}
	}
	return nil
}

func cycleDiagnostic(cycle []edge) *hcl.Diagnostic {
	names := []string{cycle[0].from}
	var places []string
	for _, e := range cycle {
		names = append(names, e.need.Run)
		places = append(places, fmt.Sprintf("  %s needs %s at %s:%d:%d", e.from, e.need.Run, e.need.Range.Filename,
			e.need.Range.Start.Line, e.need.Range.Start.Column))
	}
	return failure(cycle[0].need.Range, "Runs need each other", fmt.Sprintf("The cycle %s:\n%s",
		strings.Join(names, " → "), strings.Join(places, "\n")), "Remove one of these needs.")
}
