// Step group: launch groups, and background load.

package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
)

// groupCases groups cases that can share processes into launches, and sorts the cases by execution
// order, that of the groups.
func groupCases(t *Table) {
	for _, run := range t.runs {
		run.share()
		for _, g := range run.launches {
			for _, r := range g.all {
				if r.reason == "" {
					g.cases = append(g.cases, r)
					r.group = g
				}
			}
			if all := run.patterns(); len(g.cases) > 0 && len(g.cases) < all {
				t.fail(run.run.Range, "Part of a sequence",
					fmt.Sprintf("Run %q excludes %d of the %d patterns of its sequence, which always runs completely.",
						run.run.Name, all-len(g.cases), all), "Take them out of the sequence, or exclude all of it.")
				break
			}
			if len(g.cases) > 0 {
				g.index = len(t.groups)
				t.groups = append(t.groups, g)
			}
		}
	}
	for _, g := range t.groups {
		g.setNeeds()
	}
	t.during()
}

// patterns returns how many cases a launch of a sequence has; 0 if the run has no sequence.
func (t *runTable) patterns() int {
	for _, a := range t.run.Axes {
		if a.Item && a.Name == t.run.Workload.Sequence {
			return len(a.Values)
		}
	}
	return 0
}

// share divides the rows of a run by all settings that are fixed when a rank process starts, and by
// variant.
func (t *runTable) share() {
	axes := t.axesOf(workload.VariantAxis)
	for _, c := range t.columns {
		axes = append(axes, t.launchAxes(c)...)
	}
	alone := t.countsOverLaunch()
	if alone {
		axes = t.allAxes()
	}
	axes = sorted(axes)
	byProcess := map[string]*group{}
	groups := byAxes(t, axes, func(r *row) *group {
		key := r.process()
		if alone {
			key = r.key()
		}
		g := byProcess[key]
		if g == nil {
			g = &group{runTable: t, ranks: r.ranks(), index: -1}
			byProcess[key] = g
			t.launches = append(t.launches, g)
		}
		g.name(Key(t.run.Name, r.texts(axes)))
		return g
	})
	for _, r := range t.rows {
		g := groups(r)
		g.all = append(g.all, r)
	}
}

// countsOverLaunch reports whether a metric is counted over whole launches, so that each case needs
// its own launches. Rows of one output and cases of a sequence share a launch.
func (t *runTable) countsOverLaunch() bool {
	k := t.run.Workload
	if _, rows := k.Behaviour.(workload.RowSplitter); rows || k.Services == nil || k.Sequence != "" {
		return false
	}
	for r := range t.distinctBy("services") {
		if len(k.Services.OverLaunch(r.options())) > 0 {
			return true
		}
	}
	return false
}

// launchAxes returns the axes on which a setting depends between launches, not between cases of one
// launch: settings fixed when a process starts, and values of runs. Cases of a sequence differ only
// in its items.
func (t *runTable) launchAxes(c *column) []int {
	if t.run.Workload.Sequence == "" {
		var axes []int
		if c.Env || c.Option.Process {
			axes = c.Axes
		}
		if slices.ContainsFunc(c.cells, usesRuns) {
			axes = sorted(slices.Concat(axes, t.valueAxes))
		}
		return axes
	}
	return slices.DeleteFunc(slices.Clone(c.Axes), func(a int) bool { return t.run.Axes[a].Item })
}

func usesRuns(c *cell) bool {
	return option.OfRuns(strings.ReplaceAll(option.Text(c.value), `\"`, `"`)) // a Structure is JSON
}

// process identifies all settings that are fixed when a rank process starts. Variants have separate
// launches even with equal processes: compared cases alternate, and a repeated variant shows the
// noise between launches.
func (r *row) process() string {
	var b strings.Builder
	for _, a := range r.axesOf(workload.VariantAxis) {
		fmt.Fprintf(&b, "%q,", r.value(a).Text)
	}
	for _, c := range r.columns {
		axes := r.launchAxes(c)
		if len(axes) == len(c.Axes) && !c.Option.Where.OwnCells &&
			(r.run.Workload.Sequence != "" || c.Env || c.Option.Process) {
			b.Write(c.at(r).json)
			b.WriteByte(',')
			continue
		}
		for _, a := range axes { // differences between items are in its other axes
			fmt.Fprintf(&b, "%q,", r.value(a).Text)
		}
	}
	return b.String()
}

// name sets the group's id to one of the ids of its cases. If several values give equal processes,
// the choice does not depend on the order of the file, since resumed sessions find their launches
// by it.
func (g *group) name(id string) {
	if g.id == "" || cmp.Or(cmp.Compare(len(id), len(g.id)), strings.Compare(id, g.id)) < 0 {
		g.id = id
	}
}

// ranks returns the number of processes of the case's launch.
func (r *row) ranks() int { return r.run.Workload.Ranks(r.option) }

// simulated reports whether a case moves no data.
func (r *row) simulated() bool {
	b, ok := r.run.Workload.Behaviour.(workload.Simulator)
	return ok && b.Simulated(r.option)
}

// setNeeds collects the groups that a group waits for.
func (g *group) setNeeds() {
	for _, n := range g.needs {
		seen := map[*needList]bool{}
		for _, r := range g.cases {
			l := n.of(r)
			if seen[l] {
				continue
			}
			seen[l] = true
			for _, up := range l.cases {
				if up.group != nil {
					g.after = append(g.after, up.group.index)
				}
			}
		}
		g.after = sorted(g.after)
	}
}

// during finds, for groups of background load, the groups during which they run.
func (t *Table) during() {
	type load struct {
		run   *runTable
		front int
	}
	loads := map[load]*group{}
	fronts := map[*runTable]map[string][]*group{}
	for _, g := range t.groups {
		w := g.run.While
		if w == nil {
			continue
		}
		front := t.table(w.Run)
		own, theirs := sharedAxes(g.run, front.run)
		if fronts[g.runTable] == nil {
			for k := range own {
				mixing := ""
				switch {
				case front.hasSeveral(theirs[k]):
					mixing = w.Run
				case g.hasSeveral(own[k]):
					mixing = g.run.Name
				}
				if mixing != "" {
					t.fail(w.Range, "Load cannot follow the axis",
						fmt.Sprintf("Run %q also has axis %s, but run %q measures several of its values in one launch. Background load can change only between launches.",
							w.Run, front.run.Axes[theirs[k]].Name, mixing),
						"Name the axis differently in one of the two.")
					return
				}
			}
			fronts[g.runTable] = front.groupsBy(theirs)
		}
		for _, f := range fronts[g.runTable][g.cases[0].text(own)] {
			if g.cases[0].simulated() || f.cases[0].simulated() {
				t.fail(w.Range, "Load cannot be simulated",
					fmt.Sprintf("%s cannot run during %s: simulated launches run one after another in virtual time.",
						g.id, f.id), "Choose a real fabric for both runs, or remove while.")
				return
			}
			if other := loads[load{g.runTable, f.index}]; other != nil {
				t.fail(w.Range, "Several loads at once",
					fmt.Sprintf("Run %q has several launch groups (%s, %s) for %s. Background load is one group of processes for each launch.",
						g.run.Name, other.id, g.id, f.id),
					"Divide the load into several runs, or remove axes from its sweep that need separate processes.")
				return
			}
			loads[load{g.runTable, f.index}] = g
			g.during = append(g.during, f.index)
		}
	}
}

// hasSeveral reports whether a launch has several values of an axis.
func (t *runTable) hasSeveral(axis int) bool {
	return slices.ContainsFunc(t.launches, func(g *group) bool {
		return slices.ContainsFunc(g.cases, func(r *row) bool { return r.values[axis] != g.cases[0].values[axis] })
	})
}

// groupsBy returns the groups that run, by the text of their values on some axes.
func (t *runTable) groupsBy(axes []int) map[string][]*group {
	out := map[string][]*group{}
	for _, g := range t.launches {
		if g.index >= 0 {
			text := g.cases[0].text(axes)
			out[text] = append(out[text], g)
		}
	}
	return out
}
