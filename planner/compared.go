package planner

import (
	"fmt"
	"slices"
	"strings"
)

// Compared gives the sets of runs that assertions compare, directly or by way of a third
// run. Sets and their runs are in plan order.
func (p *Plan) Compared() [][]string {
	runOf := p.runsByCase()
	set := map[string]string{} // of each run: the run that stands for its set
	var find func(run string) string
	find = func(run string) string {
		if next, ok := set[run]; ok && next != run {
			return find(next)
		}
		return run
	}
	join := func(own string, keys []string) {
		for _, key := range keys {
			run, ok := runOf[key]
			switch {
			case !ok:
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
	at := map[string]int{} // of the run that stands for a set: its index
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

// runsByCase are the runs of all cases, by the case's key.
func (p *Plan) runsByCase() map[string]string {
	runs := make(map[string]string, len(p.Cases))
	for _, c := range p.Cases {
		runs[c.Key] = c.Run
	}
	return runs
}

// addCompared adds to some cases those that assertions compare them with. An assertion
// over several cases of a run counts only where all of these are among them: it is not
// judged otherwise.
func (p *Plan) addCompared(keys map[string]bool) {
	runOf := p.runsByCase()
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
			func(key string) bool { return runOf[key] == runOf[a.Cases[0]] && !keys[key] }) {
			continue
		}
		for _, key := range a.Cases {
			keys[key] = true
		}
	}
}

// textTurns says of runs that assertions compare whether their launches take turns.
func (p *Plan) textTurns(b *strings.Builder) {
	runOf := p.runsByCase()
	for _, runs := range p.Compared() {
		names := strings.Join(runs[:len(runs)-1], ", ") + " and " + runs[len(runs)-1]
		waits := ""
		for _, c := range p.Cases {
			for _, key := range c.Needs {
				if slices.Contains(runs, c.Run) && runOf[key] != c.Run && slices.Contains(runs, runOf[key]) {
					waits = c.Run + " needs " + runOf[key]
				}
			}
		}
		if waits != "" {
			fmt.Fprintf(b, "  %s are compared and do not take turns: %s\n", names, waits)
			continue
		}
		fmt.Fprintf(b, "  %s are compared: their launches take turns (A B B A)\n", names)
	}
}
