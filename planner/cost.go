package planner

import (
	"slices"

	"weir/assertion"
)

// launchesOf counts the launches of one group. A group without a sequential look
// takes its one look; otherwise the first is the least and the last the most. What
// to expect is the middle of the first two looks: at 3 % variation between launches
// a healthy path is decided after four launches on average when the looks are
// 3, 5, 8, 12. asking says whether an assertion can ask for further launches.
func launchesOf(looks []int, asking bool) Range {
	if len(looks) == 0 {
		return Range{}
	}
	first, last := float64(looks[0]), float64(looks[len(looks)-1])
	likely := first
	if !asking {
		last = first // nothing can be undecided, so no look follows the first
	} else if len(looks) > 1 {
		likely = (first + float64(looks[1])) / 2
	}
	return Range{first, likely, last}
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
	asking := askingKeys(p.Assertions)
	for _, c := range p.Cases {
		if slices.ContainsFunc(c.Assertions, asks) {
			asking[c.Key] = true
		}
	}
	index := map[string]int{}
	for i, g := range p.Groups {
		index[g.ID] = i
		ranges = append(ranges, launchesOf(g.Looks,
			slices.ContainsFunc(g.Cases, func(key string) bool { return asking[key] })))
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
		ranges = append(ranges, launchesOf(s.run.Launches, slices.ContainsFunc(g.cases, func(i int32) bool {
			return s.assertions.at(int(i)).asking || len(keys) > 0 && keys[s.key(s.columns, int(i))]
		})))
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
