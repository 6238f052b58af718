package planner

import (
	"slices"

	"weir/assertion"
	"weir/workload"
)

// launchesOf counts the launches of one group. A group without a sequential look
// takes its one look; otherwise the first is the least and the last the most. It needs as many as
// the neediest of its cases. spanned says whether an assertion over several cases can ask for
// further launches of one of them.
func launchesOf(looks []int, cases []*prospect, spanned bool) Range {
	if len(looks) == 0 {
		return Range{}
	}
	all := prospect{middling: spanned}
	for _, p := range cases {
		all.join(p)
	}
	first, last := float64(looks[0]), float64(looks[len(looks)-1])
	if !all.middling && all.decided == nil {
		last = first // nothing can be undecided, so no look follows the first
	}
	return Range{first, all.launches(looks), last}
}

func (r *Range) add(o Range, times float64) {
	r.Min += o.Min * times
	r.Expected += o.Expected * times
	r.Max += o.Max * times
}

// total adds groups up. Background load has a launch for each of those during
// which it runs. The weights are what a launch of each group costs.
func total(groups []Range, during [][]int, weights []float64) Range {
	var sum Range
	for i, g := range groups {
		if len(during[i]) == 0 {
			sum.add(g, weights[i])
		}
		for _, f := range during[i] {
			sum.add(groups[f], weights[i])
		}
	}
	return sum
}

// launches are the launches of each group, and the indices of those during which it runs.
func (p *Plan) launches() (ranges []Range, during [][]int) {
	spanned, byKey, alike := askingKeys(p.Assertions), map[string]*Case{}, map[[2]string]int{}
	for _, c := range p.Cases {
		byKey[c.Key] = c
		if c.Status == Planned {
			alike[c.pool()]++
		}
	}
	index := map[string]int{}
	for i, g := range p.Groups {
		index[g.ID] = i
		var cases []*prospect
		for _, key := range g.Cases {
			c := byKey[key]
			kind, _ := workload.Lookup(c.Workload)
			cases = append(cases, prospectOf(kind, c.Assertions, g.Looks, alike[c.pool()]-1, p.noise[key]))
		}
		ranges = append(ranges, launchesOf(g.Looks, cases,
			slices.ContainsFunc(g.Cases, func(key string) bool { return spanned[key] })))
	}
	for _, g := range p.Groups {
		var front []int
		for _, id := range g.During {
			front = append(front, index[id])
		}
		during = append(during, front)
	}
	return ranges, during
}

func (p *Plan) cost() Cost {
	ranges, during := p.launches()
	return Cost{Launches: total(ranges, during, slices.Repeat([]float64{1}, len(ranges)))}
}

func (t *Table) cost() Cost {
	var ranges []Range
	var during [][]int
	keys := askingKeys(t.acrossCases())
	for _, g := range t.groups {
		s := g.sheet
		cases := make([]*prospect, len(g.cases))
		for k, i := range g.cases {
			cases[k] = s.prospects().at(int(i))
		}
		ranges = append(ranges, launchesOf(s.run.Launches, cases, len(keys) > 0 &&
			slices.ContainsFunc(g.cases, func(i int32) bool { return keys[s.key(s.columns, int(i))] })))
		during = append(during, g.during)
	}
	return Cost{Launches: total(ranges, during, slices.Repeat([]float64{1}, len(ranges)))}
}

// asks says whether an assertion can ask for more launches. One of severity info
// is shown as it is and never does.
func asks(a assertion.Assertion) bool { return a.Severity != assertion.Info }

// askingKeys are the keys of the cases that assertions over several cases can ask
// more launches of.
func askingKeys(list []assertion.Assertion) map[string]bool {
	keys := map[string]bool{}
	for _, a := range list {
		for _, key := range a.Cases {
			if asks(a) {
				keys[key] = true
			}
		}
	}
	return keys
}
