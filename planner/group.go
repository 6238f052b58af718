package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"weir/workload"
)

// group puts cases that can share processes into one launch each, and brings
// the cases into execution order, which is that of the groups.
func group(t *Table) {
	for _, s := range t.sheets {
		s.cluster()
		for _, g := range s.clusters {
			for _, i := range g.all {
				if s.reason(int(i)) == "" {
					g.cases = append(g.cases, i)
				}
			}
			if all := s.patterns(); len(g.cases) > 0 && len(g.cases) < all {
				t.fail(s.run.Range, "Part of a sequence",
					fmt.Sprintf("Run %q excludes %d of the %d patterns of its sequence, which is played as a whole.",
						s.run.Name, all-len(g.cases), all), "Take them out of the sequence, or exclude all of it.")
				break
			}
			if len(g.cases) > 0 {
				g.index = len(t.groups)
				t.groups = append(t.groups, g)
			}
		}
	}
	for _, s := range t.sheets {
		for _, e := range s.needs {
			e.upstream.link(e.lists.values)
		}
	}
	for _, g := range t.groups {
		g.await()
	}
	t.during()
}

// patterns is how many cases a launch of a sequence has; 0 if the run plays none.
func (s *sheet) patterns() int {
	for _, a := range s.run.Axes {
		if a.Item && a.Name == s.run.Workload.Sequence {
			return len(a.Values)
		}
	}
	return 0
}

// cluster divides the cases of a run by everything that is fixed when a rank
// process starts, and by their variants.
func (s *sheet) cluster() {
	axes := s.axesOf([]string{workload.VariantAxis})
	for _, c := range s.settings {
		axes = append(axes, s.launchAxes(c)...)
	}
	alone := s.countsOverLaunch()
	if alone {
		for i := range s.run.Axes {
			axes = append(axes, i)
		}
	}
	slices.Sort(axes)
	axes = slices.Compact(axes)
	byProcess := map[string]*tableGroup{}
	groups := work(s.by(axes), func(i int) *tableGroup {
		key := s.process(i)
		if alone {
			key = s.key(s.columns, i)
		}
		g := byProcess[key]
		if g == nil {
			g = &tableGroup{sheet: s, ranks: s.ranks(i), index: -1}
			byProcess[key] = g
		}
		g.name(s.groupID(axes, i))
		return g
	})
	for i := range s.live {
		g := groups.at(i)
		if len(g.all) == 0 {
			s.clusters = append(s.clusters, g)
		}
		g.all = append(g.all, int32(i))
	}
}

// countsOverLaunch says whether something is counted over whole launches, so that each case has launches of its
// own. Rows of one output and the cases of a sequence can have none.
func (s *sheet) countsOverLaunch() bool {
	k := s.run.Workload
	if k.OverLaunch == nil || k.Sequence != "" || k.Row != "" {
		return false
	}
	return slices.ContainsFunc(s.by(s.axesOf([]string{"services"})).first, func(first int32) bool {
		return first >= 0 && len(k.OverLaunch(s.options(int(first)))) > 0
	})
}

// launchAxes are the axes on which a setting depends between launches, and not between
// cases of one launch: all of what is fixed when a process starts, and of values of runs, which
// each launch has. Cases of a sequence
// differ in its items alone.
func (s *sheet) launchAxes(c column) []int {
	if s.run.Workload.Sequence == "" {
		var axes []int
		if c.Env || c.Option.Process {
			axes = c.Axes
		}
		return s.withValueAxes(axes, c)
	}
	return slices.DeleteFunc(slices.Clone(c.Axes), func(a int) bool { return s.run.Axes[a].Item })
}

// withValueAxes adds the axes by which values of runs are found to those of a setting that has
// such values.
func (s *sheet) withValueAxes(axes []int, c column) []int {
	if !slices.ContainsFunc(c.values.values, func(v any) bool {
		return workload.OfRuns(strings.ReplaceAll(workload.Text(v), `\"`, `"`)) // of a Structure it is JSON
	}) {
		return axes
	}
	axes = append(slices.Clone(axes), s.valueAxes...)
	slices.Sort(axes)
	return slices.Compact(axes)
}

// process identifies everything that is fixed when a rank process starts. Variants have
// launches of their own even where their processes are equal: what is compared takes turns, and
// one that is the same again shows the noise between launches.
func (s *sheet) process(i int) string {
	var b strings.Builder
	for _, a := range s.axesOf([]string{workload.VariantAxis}) {
		fmt.Fprintf(&b, "%q,", s.value(s.columns, a, i).Text)
	}
	for _, c := range s.settings {
		axes := s.launchAxes(c)
		if len(axes) == len(c.Axes) && !c.Option.WithOwnCells &&
			(s.run.Workload.Sequence != "" || c.Env || c.Option.Process) {
			b.Write(c.json[c.values.class(i)])
			b.WriteByte(',')
			continue
		}
		for _, a := range axes { // what differs between items as well is told by its other axes
			fmt.Fprintf(&b, "%q,", s.value(s.columns, a, i).Text)
		}
	}
	return b.String()
}

// groupID names a case's group by its run and the axes that its processes depend on.
func (s *sheet) groupID(axes []int, i int) string {
	texts := map[string]string{}
	for _, axis := range axes {
		texts[s.run.Axes[axis].Name] = s.value(s.columns, axis, i).Text
	}
	return Key(s.run.Name, texts)
}

// name gives the group one of the ids that its cases have for it: where several
// values make equal processes, the same one in whatever order a file has them,
// since a session that is resumed finds its launches by it.
func (g *tableGroup) name(id string) {
	if g.id == "" || cmp.Or(cmp.Compare(len(id), len(g.id)), strings.Compare(id, g.id)) < 0 {
		g.id = id
	}
}

// ranks is how many processes the case's launch has.
func (s *sheet) ranks(i int) int {
	return s.run.Workload.Ranks(func(option string) any { return s.option(option, i) })
}

// simulated says whether a case moves no bytes.
func (s *sheet) simulated(i int) bool {
	simulated := s.run.Workload.Simulated
	return simulated != nil && simulated(func(name string) any { return s.option(name, i) })
}

// option is the value of an option of a case, nil if the case has none of the name.
func (s *sheet) option(name string, i int) any {
	for _, c := range s.settings {
		if !c.Env && c.Name == name {
			return c.values.at(i)
		}
	}
	return nil
}

// link tells lists of needed cases in which groups those run.
func (s *sheet) link(lists []*needList) {
	of := make([]int, s.live)
	for i := range of {
		of[i] = -1
	}
	for _, g := range s.clusters {
		for _, i := range g.cases {
			of[i] = g.index
		}
	}
	for _, l := range lists {
		if l == nil || l.groups != nil {
			continue
		}
		for _, i := range l.cases {
			if of[i] >= 0 {
				l.groups = append(l.groups, of[i])
			}
		}
		slices.Sort(l.groups)
		l.groups = slices.Compact(l.groups)
	}
}

// await gathers the groups that a group waits for.
func (g *tableGroup) await() {
	for _, e := range g.sheet.needs {
		seen := map[*needList]bool{}
		for _, i := range g.cases {
			if l := e.lists.at(int(i)); !seen[l] {
				seen[l] = true
				g.needs = append(g.needs, l.groups...)
			}
		}
	}
	slices.Sort(g.needs)
	g.needs = slices.Compact(g.needs)
}

// during finds, for the groups of background runs, those during whose launches they run.
func (t *Table) during() {
	type load struct {
		sheet *sheet
		front int
	}
	loads := map[load]*tableGroup{}
	fronts := map[*sheet]map[string][]*tableGroup{}
	for _, g := range t.groups {
		w := g.sheet.run.While
		if w == nil {
			continue
		}
		front := t.sheet(w.Run)
		own, theirs := sharedAxes(g.sheet.run, front.run)
		by := fronts[g.sheet]
		if by == nil {
			for k := range own {
				mixing := ""
				switch {
				case front.mixes(theirs[k]):
					mixing = w.Run
				case g.sheet.mixes(own[k]):
					mixing = g.sheet.run.Name
				}
				if mixing != "" {
					t.fail(w.Range, "Load cannot follow the axis",
						fmt.Sprintf("Run %q has axis %s too, whose values share launches of run %q; background load changes between launches only.",
							w.Run, front.run.Axes[theirs[k]].Name, mixing),
						"Name the axis differently in one of the two.")
					return
				}
			}
			by = front.clustersBy(theirs)
			fronts[g.sheet] = by
		}
		for _, f := range by[g.sheet.text(g.sheet.columns, own, int(g.cases[0]))] {
			if g.sheet.simulated(int(g.cases[0])) || front.simulated(int(f.cases[0])) {
				t.fail(w.Range, "Load cannot be simulated",
					fmt.Sprintf("%s cannot run during %s: simulated launches follow each other in virtual time, in which nothing runs beside another.",
						g.id, f.id), "Choose a real fabric for both runs, or remove while.")
				return
			}
			if other := loads[load{g.sheet, f.index}]; other != nil {
				t.fail(w.Range, "Several loads at once",
					fmt.Sprintf("Run %q has several launch groups (%s, %s) for %s. Background load is one group of processes for each launch.",
						g.sheet.run.Name, other.id, g.id, f.id),
					"Divide the load into several runs, or take what its processes depend on out of its sweep.")
				return
			}
			loads[load{g.sheet, f.index}] = g
			g.during = append(g.during, f.index)
		}
	}
}

// mixes says whether a launch meets several values of an axis.
func (s *sheet) mixes(axis int) bool {
	classes := s.by([]int{axis})
	return slices.ContainsFunc(s.clusters, func(g *tableGroup) bool {
		return slices.ContainsFunc(g.cases, func(i int32) bool {
			return classes.class(int(i)) != classes.class(int(g.cases[0]))
		})
	})
}

// clustersBy are the groups that run, by the text of their values on some axes.
func (s *sheet) clustersBy(axes []int) map[string][]*tableGroup {
	out := map[string][]*tableGroup{}
	for _, g := range s.clusters {
		if g.index >= 0 {
			text := s.text(s.columns, axes, int(g.cases[0]))
			out[text] = append(out[text], g)
		}
	}
	return out
}
