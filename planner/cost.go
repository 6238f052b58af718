// Numbers of launches, and the estimated time of a plan.

package planner

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// launchesOf counts the launches of one group. The first look gives the minimum and the last the
// maximum; the case with the most launches decides. multiCase says whether an assertion over
// several cases can ask for further launches of one of them.
func launchesOf(looks []int, cases []*forecast, multiCase bool) Range {
	if len(looks) == 0 {
		return Range{}
	}
	all := forecast{unsimulated: multiCase}
	for _, p := range cases {
		all.join(p)
	}
	first, last := float64(looks[0]), float64(looks[len(looks)-1])
	if !all.unsimulated && all.decided == nil {
		last = first // no assertion can ask for more, so the first look is the last
	}
	return Range{first, all.launches(looks), last}
}

func (r *Range) add(o Range, times float64) {
	r.Min += o.Min * times
	r.Expected += o.Expected * times
	r.Max += o.Max * times
}

// total adds the launches of groups, with weights for the cost of a launch of each. Background load
// has one launch for each launch during which it runs.
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

// launches returns the launches of each group, and the indices of the groups during which it runs.
func (p *Plan) launches() (ranges []Range, during [][]int) {
	multiCase, alike := keysThatMayAsk(p.Assertions), map[[2]string]int{}
	for _, c := range p.Cases {
		if c.Status == Planned {
			alike[c.pool()]++
			addCompared(multiCase, c.Assertions)
		}
	}
	for _, g := range p.Groups {
		var cases []*forecast
		for _, key := range g.Cases {
			c := p.keyed()[key]
			kind, _ := workload.Lookup(c.Workload)
			cases = append(cases, forecastOf(kind, c.Assertions, g.Looks, alike[c.pool()]-1, p.noise[key]))
		}
		ranges = append(ranges, launchesOf(g.Looks, cases,
			slices.ContainsFunc(g.Cases, func(key string) bool { return multiCase[key] })))
	}
	during, _ = p.during() // the groups were checked when they were made or read
	return ranges, during
}

// during returns, by group, the indices of the groups during which it runs as background load.
func (p *Plan) during() (all [][]int, err error) {
	index := map[string]int{}
	for i, g := range p.Groups {
		index[g.ID] = i
	}
	for _, g := range p.Groups {
		var front []int
		for _, id := range g.During {
			i, ok := index[id]
			if !ok {
				return nil, fmt.Errorf("%w: launch group %s runs during %s, which does not exist", ErrDigest, g.ID, id)
			}
			front = append(front, i)
		}
		all = append(all, front)
	}
	return all, nil
}

func (p *Plan) cost() Cost {
	ranges, during := p.launches()
	return Cost{Launches: total(ranges, during, slices.Repeat([]float64{1}, len(ranges)))}
}

func (t *Table) cost() Cost {
	var ranges []Range
	var during [][]int
	keys, forecasts := keysThatMayAsk(t.acrossCases()), map[*runTable]func(*row) *forecast{}
	for _, run := range t.runs {
		forecasts[run] = run.forecasts()
		seen := map[*assertionList]bool{} // rows share them
		for _, r := range run.rows {
			if r.reason == "" && !seen[r.judged] {
				seen[r.judged] = true
				addCompared(keys, r.judged.list)
			}
		}
	}
	for _, g := range t.groups {
		cases := make([]*forecast, len(g.cases))
		for k, r := range g.cases {
			cases[k] = forecasts[g.runTable](r)
		}
		ranges = append(ranges, launchesOf(g.run.Launches, cases, len(keys) > 0 &&
			slices.ContainsFunc(g.cases, func(r *row) bool { return keys[r.key()] })))
		during = append(during, g.during)
	}
	return Cost{Launches: total(ranges, during, slices.Repeat([]float64{1}, len(ranges)))}
}

// keysThatMayAsk returns the keys of the cases of which assertions over several cases can ask for more
// launches.
func keysThatMayAsk(list []assertion.Assertion) map[string]bool {
	keys := map[string]bool{}
	for _, a := range list {
		for _, key := range a.Cases {
			if a.MayAskLaunches() {
				keys[key] = true
			}
		}
	}
	return keys
}

// addCompared adds the keys of the cases that a case's own assertions compare it with: while one of them is open, these
// are launched again, too.
func addCompared(keys map[string]bool, list []assertion.Assertion) {
	for _, a := range list {
		if a.MayAskLaunches() {
			a.Takes(func(_, key string) {
				if key != "" {
					keys[key] = true
				}
			})
		}
	}
}

// leastTime returns the seconds that the options of cases decide, such as the duration of a load; 0: they decide none.
func (p *Plan) leastTime() Range {
	all, _ := p.seconds(func(c *Case) (float64, bool) {
		b, ok := workload.As[workload.Timed](c.Workload)
		if !ok {
			return 0, true
		}
		return b.LeastTime(c.Options).Seconds(), true
	})
	return all
}

// Estimate sets the duration of the plan from the seconds that launches took earlier, by case id.
// It needs a value for every case that runs.
func (p *Plan) Estimate(seconds map[string]float64) {
	if p.omitted != nil {
		return // an excerpt does not have all cases
	}
	if all, ok := p.seconds(func(c *Case) (float64, bool) { s, ok := seconds[c.ID]; return s, ok }); ok {
		p.Cost.Seconds = &all
	}
}

// seconds adds the times of the launches of all cases; not ok if that of one is unknown. Background load takes no time
// of its own.
func (p *Plan) seconds(of func(*Case) (float64, bool)) (all Range, ok bool) {
	ranges, during := p.launches()
	weights := make([]float64, len(p.Groups))
	for i, g := range p.Groups {
		if len(g.During) > 0 {
			continue
		}
		for _, key := range g.Cases {
			s, ok := of(p.keyed()[key])
			if !ok {
				return all, false
			}
			weights[i] += s
		}
	}
	return total(ranges, during, weights), true
}
