package planner

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"weir/dsl"
)

// edges are one need of a run, drawn between cases.
type edges struct {
	*dsl.Need
	upstream *sheet
	lists    facet[*needList]
}

// needList are the upstream cases that some cases need; they share it.
type needList struct {
	cases  []int32
	groups []int // of the cases that run, distinct; set by group
}

// need draws the edges between runs and, from them, between cases: axes that
// both runs have match value by value, all others fan in.
func need(t *Table) {
	if cycle := findCycle(t.scenario.Runs); cycle != nil {
		t.report(cycleDiagnostic(cycle))
		return
	}
	if t.diags.HasErrors() {
		return // points may be missing
	}
	for _, s := range t.sheets {
		for _, n := range s.run.Needs {
			up := t.sheet(n.Run)
			if up == nil {
				t.fail(n.Range, "Unknown run", fmt.Sprintf("Run %q needs %q, which the scenario does not have.",
					s.run.Name, n.Run), "Name a run that it has, or remove the need.")
				continue
			}
			lists := t.connect(s, up, n)
			if !t.connectable(s, up, lists, n.Range) {
				return
			}
			s.needs = append(s.needs, edges{n, up, lists})
		}
	}
	values(t)
}

// connect finds, for the cases of a run, the cases of another with the same
// values on the axes that both have.
func (t *Table) connect(s, up *sheet, n *dsl.Need) facet[*needList] {
	own, theirs := sharedAxes(s.run, up.run)
	at := map[string]*needList{}
	classes := up.by(theirs)
	lists := work(classes, func(i int) *needList {
		l := &needList{}
		at[up.text(up.columns, theirs, i)] = l
		return l
	})
	for i := range up.live {
		l := lists.at(i)
		l.cases = append(l.cases, int32(i))
	}
	excluded := map[string]bool{}
	for i := range up.excluded.reasons {
		excluded[up.text(up.excluded.columns, theirs, i)] = true
	}
	return work(s.by(own), func(i int) *needList {
		text := s.text(s.columns, own, i)
		if l := at[text]; l != nil {
			return l
		}
		if !excluded[text] {
			t.fail(n.Range, "No matching case",
				fmt.Sprintf("The case %s has no counterpart in run %q: axes of the same name (%s) are matched value by value.",
					s.key(s.columns, i), n.Run, strings.Join(s.axisNames(own), ", ")),
				"Give both runs the same values.")
		}
		return &needList{}
	})
}

// sharedAxes are the axes of the same name, as indices in both runs.
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

func (s *sheet) axisNames(axes []int) []string {
	var names []string
	for _, a := range axes {
		names = append(names, s.run.Axes[a].Name)
	}
	return names
}

// text identifies a case's values on some axes.
func (s *sheet) text(columns [][]int32, axes []int, i int) string {
	return Key("", s.texts(columns, axes, i))
}

func (s *sheet) texts(columns [][]int32, axes []int, i int) map[string]string {
	texts := map[string]string{}
	for _, a := range axes {
		texts[s.run.Axes[a].Name] = s.value(columns, a, i).Text
	}
	return texts
}

// needed is what a case needs: keys with the outcome that lets it run, sorted.
type needed struct{ key, on string }

func sortNeeds(all []needed) []needed {
	slices.SortFunc(all, func(a, b needed) int { return strings.Compare(a.key+"\x00"+a.on, b.key+"\x00"+b.on) })
	return all
}

// hashNeeds identifies what a case waits for.
func hashNeeds(all []needed) [32]byte {
	h := sha256.New()
	for _, n := range all {
		fmt.Fprintf(h, "%q%q", n.key, n.on)
	}
	return [32]byte(h.Sum(nil))
}

// needed lists what a case needs.
func (s *sheet) needed(i int) []needed {
	var all []needed
	for _, e := range s.needs {
		for _, u := range e.lists.at(i).cases {
			all = append(all, needed{e.upstream.key(e.upstream.columns, int(u)), e.On})
		}
	}
	return sortNeeds(all)
}

// neededHashes gives the hash of what each case needs, worked out once for all
// cases with the same values on the axes that matter.
func (s *sheet) neededHashes() facet[[32]byte] {
	var axes []int
	for _, e := range s.needs {
		own, _ := sharedAxes(s.run, e.upstream.run)
		axes = append(axes, own...)
	}
	slices.Sort(axes)
	return work(s.by(slices.Compact(axes)), func(i int) [32]byte { return hashNeeds(s.needed(i)) })
}
