package planner

import (
	"slices"

	"weir/assertion"
)

// cost counts launches. A group without a sequential look takes its one look;
// otherwise the first is the least and the last the most. What to expect is the
// middle of the first two looks: at 3 % variation between launches a healthy
// path is decided after four launches on average when the looks are 3, 5, 8, 12.
func (p *Plan) cost() Cost {
	var r Range
	asking := p.asking()
	for _, g := range p.Groups {
		looks := g.Looks
		if len(looks) == 0 {
			continue
		}
		first, last := float64(looks[0]), float64(looks[len(looks)-1])
		likely := first
		if !slices.ContainsFunc(g.Cases, func(key string) bool { return asking[key] }) {
			last = first // nothing can be undecided, so no look follows the first
		} else if len(looks) > 1 {
			likely = (first + float64(looks[1])) / 2
		}
		r.Min += first
		r.Expected += likely
		r.Max += last
	}
	return Cost{Launches: r}
}

// asking are the keys of the cases that an assertion can ask more launches of.
// Those of severity info are shown as they are and never ask.
func (p *Plan) asking() map[string]bool {
	keys := map[string]bool{}
	for _, c := range p.Cases {
		for _, a := range c.Assertions {
			if a.Severity != assertion.Info {
				keys[c.Key] = true
			}
		}
	}
	for _, a := range p.Assertions {
		for _, key := range a.Cases {
			if a.Severity != assertion.Info {
				keys[key] = true
			}
		}
	}
	return keys
}
