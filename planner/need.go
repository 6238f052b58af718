// Step need: edges between cases.

package planner

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
)

// need is a need of a run, resolved to cases.
type need struct {
	*dsl.Need
	upstream *runTable
	of       func(*row) *needList
}

// needList is a shared list of needed cases.
type needList struct {
	cases []*row
	keys  []string // cached
}

// texts returns the keys of the cases.
func (l *needList) texts() []string {
	for len(l.keys) < len(l.cases) {
		l.keys = append(l.keys, l.cases[len(l.keys)].key())
	}
	return l.keys
}

// drawNeeds creates the edges between runs and between their cases. Cases must have equal values on
// the axes that both runs have.
func drawNeeds(t *Table) {
	if cycle := findCycle(t.scenario.Runs); cycle != nil {
		t.report(cycleDiagnostic(cycle))
		return
	}
	if t.diags.HasErrors() {
		return // points may be missing
	}
	for _, run := range t.runs {
		for _, n := range run.run.Needs {
			up := t.table(n.Run)
			if up == nil {
				t.fail(n.Range, "Unknown run", fmt.Sprintf("Run %q needs %q, which the scenario does not have.",
					run.run.Name, n.Run), "Name a run that it has, or remove the need.")
				continue
			}
			run.needs = append(run.needs, need{n, up, t.connect(run, up, n)})
		}
	}
	checkRunValues(t)
}

// connect finds, for the cases of a run, the cases of another with the same values on common axes.
func (t *Table) connect(run, up *runTable, n *dsl.Need) func(*row) *needList {
	own, theirs := sharedAxes(run.run, up.run)
	at := map[string]*needList{}
	lists := byAxes(up, theirs, func(r *row) *needList {
		l := &needList{}
		at[r.text(theirs)] = l
		return l
	})
	for _, r := range up.rows {
		l := lists(r)
		l.cases = append(l.cases, r)
	}
	excluded := map[string]bool{}
	for _, r := range up.excluded {
		excluded[r.text(theirs)] = true
	}
	return byAxes(run, own, func(r *row) *needList {
		text := r.text(own)
		if l := at[text]; l != nil {
			return l
		}
		if !excluded[text] {
			t.fail(n.Range, "No matching case",
				fmt.Sprintf("Case %s has no counterpart in run %q: axes of the same name (%s) are matched by value.",
					r.key(), n.Run, strings.Join(run.axisNames(own), ", ")),
				"Give both runs the same values.")
		}
		return &needList{}
	})
}

// sharedAxes returns the axes of the same name, as indices in both runs.
func sharedAxes(a, b *dsl.Run) (inA, inB []int) {
	for i, x := range a.Axes {
		for j, y := range b.Axes {
			if x.Name == y.Name {
				inA, inB = append(inA, i), append(inB, j)
			}
		}
	}
	return inA, inB
}

func (t *runTable) axisNames(axes []int) []string {
	names := []string{}
	for _, a := range axes {
		names = append(names, t.run.Axes[a].Name)
	}
	return names
}

// needed is a key that a case needs with the required outcome.
type needed struct{ key, on string }

func sortNeeds(all []needed) []needed {
	slices.SortFunc(all, func(a, b needed) int { return strings.Compare(a.key+"\x00"+a.on, b.key+"\x00"+b.on) })
	return all
}

// hashNeeds hashes the needs of a case.
func hashNeeds(all []needed) [32]byte {
	h := sha256.New()
	for _, n := range all {
		fmt.Fprintf(h, "%q%q", n.key, n.on)
	}
	return [32]byte(h.Sum(nil))
}

// needed returns the needs of a case, sorted.
func (r *row) needed() []needed {
	var all []needed
	for _, n := range r.needs {
		for _, key := range n.of(r).texts() {
			all = append(all, needed{key, n.On})
		}
	}
	return sortNeeds(all)
}

// neededHashes returns the hash of the needs of each case, computed once for all cases with the
// same values on the relevant axes.
func (t *runTable) neededHashes() func(*row) [32]byte {
	var axes []int
	for _, n := range t.needs {
		own, _ := sharedAxes(t.run, n.upstream.run)
		axes = append(axes, own...)
	}
	return byAxes(t, sorted(axes), func(r *row) [32]byte { return hashNeeds(r.needed()) })
}
