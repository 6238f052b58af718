// Excerpts of plans, for display.

package planner

import (
	"github.com/weir-bench/weir/internal/option"
)

// Excerpt returns the plan with at most the given number of cases of each launch group and of
// groups of each run; its text says how many are left out. An excerpt is for display: it cannot be
// saved or run.
func (t *Table) Excerpt(cases, groups int) *Plan {
	p := *t.head
	p.Cases, p.Groups, p.Assertions = []*Case{}, []*LaunchGroup{}, t.acrossCases()
	p.omitted = map[string]int{}
	for _, run := range t.runs {
		shown := 0
		for r := range run.inOrder() {
			if shown == cases {
				break
			}
			p.Cases = append(p.Cases, r.write(t))
			shown++
		}
		p.omitted[run.run.Name] = len(run.rows) + len(run.excluded) - shown
	}
	p.omittedGroups = max(0, len(t.groups)-groups)
	for _, g := range t.groups[:len(t.groups)-p.omittedGroups] {
		kept := *g
		kept.cases = g.cases[:min(1, len(g.cases))]
		out := kept.write(t)
		out.omitted = len(g.cases) - len(kept.cases)
		if kind := g.run.Workload; kind.Sequence != "" {
			all := make([]option.Values, len(g.cases))
			for k, r := range g.cases {
				all[k] = r.options()
			}
			out.together = jointWork(kind, all)
		}
		p.Groups = append(p.Groups, out)
	}
	return &p
}
