package planner

import (
	"slices"

	"weir/dsl"
)

// always is the outcome that lets a case run whatever came out of what it needs.
const always = "always"

// order sorts the runs so that each comes after those that it needs, and
// otherwise as they stand in the file.
func order(t *Table) {
	var sorted []*sheet
	placed := map[string]bool{}
	var runs []*dsl.Run
	for _, s := range t.sheets {
		runs = append(runs, s.run)
	}
	ready := func(s *sheet) bool {
		for _, n := range edgesOf(s.run, runs) {
			if !placed[n.Run] {
				return false
			}
		}
		return true
	}
	for rest := t.sheets; len(rest) > 0; {
		i := slices.IndexFunc(rest, ready) // there is one: cycles were refused
		sorted = append(sorted, rest[i])
		placed[rest[i].run.Name] = true
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	t.sheets = sorted
	t.skip()
}
