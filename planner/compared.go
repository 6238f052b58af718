// Runs and cases that assertions compare.

package planner

import (
	"fmt"
	"slices"
	"strings"
)

// Compared returns the sets of runs that assertions compare, directly or through a third run. Sets
// and their runs are in plan order.
func (p *Plan) Compared() [][]string {
	set := map[string]string{} // run → the run that represents its set
	var find func(run string) string
	find = func(run string) string {
		if next, ok := set[run]; ok && next != run {
			return find(next)
		}
		return run
	}
	join := func(own string, keys []string) {
		for _, key := range keys {
			run := p.runOf(key)
			switch {
			case run == "":
			case own == "":
				own = run
			default:
				set[find(run)] = find(own)
			}
		}
	}
	for _, c := range p.Cases {
		for _, a := range c.Assertions {
			join(c.Run, a.Mentions())
		}
	}
	for _, a := range p.Assertions {
		join("", a.Cases)
	}
	var sets [][]string
	at := map[string]int{} // the run that represents a set → the index of the set
	for _, run := range p.runs() {
		root := find(run)
		i, ok := at[root]
		if !ok {
			i = len(sets)
			at[root] = i
			sets = append(sets, nil)
		}
		sets[i] = append(sets[i], run)
	}
	return slices.DeleteFunc(sets, func(runs []string) bool { return len(runs) < 2 })
}

// runOf returns the run of the case with a key; "" if there is none.
func (p *Plan) runOf(key string) string {
	if c := p.keyed()[key]; c != nil {
		return c.Run
	}
	return ""
}

// addComparedCases adds the cases that assertions compare the given ones with. An assertion over several
// cases of a run counts only if all of these are given: otherwise it is not judged.
func (p *Plan) addComparedCases(keys map[string]bool) {
	for _, c := range p.Cases {
		if !keys[c.Key] {
			continue
		}
		for _, a := range c.Assertions {
			for _, key := range a.Mentions() {
				keys[key] = true
			}
		}
	}
	for _, a := range p.Assertions {
		if slices.ContainsFunc(a.Cases,
			func(key string) bool { return p.runOf(key) == p.runOf(a.Cases[0]) && !keys[key] }) {
			continue
		}
		for _, key := range a.Cases {
			keys[key] = true
		}
	}
}

// textTurns says whether the launches of compared runs alternate.
func (p *Plan) textTurns(b *strings.Builder) {
	for _, runs := range p.Compared() {
		names := strings.Join(runs[:len(runs)-1], ", ") + " and " + runs[len(runs)-1]
		waits := ""
		for _, c := range p.Cases {
			for _, key := range c.Needs {
				if slices.Contains(runs, c.Run) && p.runOf(key) != c.Run && slices.Contains(runs, p.runOf(key)) {
					waits = c.Run + " needs " + p.runOf(key)
				}
			}
		}
		if waits != "" {
			fmt.Fprintf(b, "  %s are compared but do not alternate: %s\n", names, waits)
			continue
		}
		fmt.Fprintf(b, "  %s are compared: their launches alternate (A B B A)\n", names)
	}
}
