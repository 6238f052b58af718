package planner

import (
	"slices"

	"weir/assertion"
)

// add counts the launches of one group. A group without a sequential look takes
// its one look; otherwise the first is the least and the last the most. What to
// expect is the middle of the first two looks: at 3 % variation between launches
// a healthy path is decided after four launches on average when the looks are
// 3, 5, 8, 12. asking says whether an assertion can ask for further launches.
func (r *Range) add(looks []int, asking bool) {
	if len(looks) == 0 {
		return
	}
	first, last := float64(looks[0]), float64(looks[len(looks)-1])
	likely := first
	if !asking {
		last = first // nothing can be undecided, so no look follows the first
	} else if len(looks) > 1 {
		likely = (first + float64(looks[1])) / 2
	}
	r.Min += first
	r.Expected += likely
	r.Max += last
}

func (p *Plan) cost() Cost {
	var r Range
	asking := askingKeys(p.Assertions)
	for _, c := range p.Cases {
		if slices.ContainsFunc(c.Assertions, asks) {
			asking[c.Key] = true
		}
	}
	for _, g := range p.Groups {
		r.add(g.Looks, slices.ContainsFunc(g.Cases, func(key string) bool { return asking[key] }))
	}
	return Cost{Launches: r}
}

func (t *Table) cost() Cost {
	var r Range
	keys := askingKeys(t.acrossCases())
	for _, g := range t.groups {
		s := g.sheet
		r.add(s.run.Launches, slices.ContainsFunc(g.cases, func(i int32) bool {
			return s.assertions.at(int(i)).asking || len(keys) > 0 && keys[s.key(s.columns, int(i))]
		}))
	}
	return Cost{Launches: r}
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
