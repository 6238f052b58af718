// Step order: the execution order of runs.

package planner

import (
	"slices"

	"github.com/weir-bench/weir/dsl"
)

// always is the outcome that lets a case run after any result.
const always = "always"

// order sorts the runs: each comes after those that it needs, and otherwise in the order of the
// file.
func order(t *Table) {
	var ordered []*runTable
	placed := map[string]bool{}
	var runs []*dsl.Run
	for _, t := range t.runs {
		runs = append(runs, t.run)
	}
	ready := func(t *runTable) bool {
		return !slices.ContainsFunc(edgesOf(t.run, runs), func(n *dsl.Need) bool { return !placed[n.Run] })
	}
	for rest := slices.Clone(t.runs); len(rest) > 0; {
		i := slices.IndexFunc(rest, ready) // there is one: cycles were refused
		ordered = append(ordered, rest[i])
		placed[rest[i].run.Name] = true
		rest = slices.Delete(rest, i, i+1)
	}
	t.runs = ordered
	t.skip()
}
