package planner

import "weir/workload"

// Excerpt writes the plan out with at most so many cases of each launch group
// and so many groups of each run; the text of a plan says how many it leaves out.
// It is for looking at: it cannot be saved or run.
func (t *Table) Excerpt(cases, groups int) *Plan {
	p := *t.head
	p.Cases, p.Groups, p.Assertions = []*Case{}, []*LaunchGroup{}, t.acrossCases()
	p.omitted = map[string]int{}
	for _, s := range t.sheets {
		room := cases
		shown := 0
		for _, g := range s.clusters {
			n := min(room, len(g.all))
			for _, i := range g.all[:n] {
				p.Cases = append(p.Cases, s.liveCase(t, int(i)))
			}
			room -= n
			shown += n
		}
		n := min(room, len(s.excluded.reasons))
		for i := range n {
			p.Cases = append(p.Cases, s.excludedCase(t, i))
		}
		p.omitted[s.run.Name] = s.live + len(s.excluded.reasons) - shown - n
	}
	for i, g := range t.groups {
		if i == groups {
			p.omittedGroups = len(t.groups) - groups
			break
		}
		kept := *g
		kept.cases = g.cases[:min(1, len(g.cases))]
		out := kept.write(t)
		out.omitted = len(g.cases) - len(kept.cases)
		if kind := g.sheet.run.Workload; kind.Sequence != "" {
			all := make([]workload.Values, len(g.cases))
			for k, c := range g.cases {
				all[k] = g.sheet.options(int(c))
			}
			out.together = together(kind, all)
		}
		p.Groups = append(p.Groups, out)
	}
	return &p
}
