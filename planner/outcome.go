// Outcomes that launch groups need of others.

package planner

import (
	"slices"
	"strings"
)

// outcomes are the required outcomes other than success, by the ids of the waiting group and of the
// needed one.
type outcomes map[[2]string][]string

func (p *Plan) outcomes() outcomes {
	groupOf := p.groupsByCase()
	all := outcomes{}
	for _, c := range p.Cases {
		for key, on := range c.NeedsOn {
			own, up := groupOf[c.Key], groupOf[key]
			if own == nil || up == nil {
				continue // a case that does not run waits for nothing
			}
			edge := [2]string{own.ID, up.ID}
			if !slices.Contains(all[edge], on) {
				all[edge] = append(all[edge], on)
				slices.Sort(all[edge])
			}
		}
	}
	return all
}

// of returns the outcome that a group needs of another; "" is success.
func (o outcomes) of(g *LaunchGroup, needed string) string {
	return strings.Join(o[[2]string{g.ID, needed}], " or ")
}

// named returns the ids of the groups that a group waits for, with outcomes.
func (o outcomes) named(g *LaunchGroup) []string {
	var all []string
	for _, id := range g.Needs {
		if on := o.of(g, id); on != "" {
			id += " (" + on + ")"
		}
		all = append(all, id)
	}
	return all
}
