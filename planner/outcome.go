package planner

import (
	"slices"
	"strings"
)

// outcomes are what groups wait for where that is not success, by the ids of the
// one that waits and the one that it waits for.
type outcomes map[[2]string][]string

func (p *Plan) outcomes() outcomes {
	groupOf := map[string]string{}
	for _, g := range p.Groups {
		for _, key := range g.Cases {
			groupOf[key] = g.ID
		}
	}
	all := outcomes{}
	for _, c := range p.Cases {
		for key, on := range c.NeedsOn {
			edge := [2]string{groupOf[c.Key], groupOf[key]}
			if !slices.Contains(all[edge], on) {
				all[edge] = append(all[edge], on)
				slices.Sort(all[edge])
			}
		}
	}
	return all
}

// of is what a group waits for in another one: "" is success.
func (o outcomes) of(g *LaunchGroup, needed string) string {
	return strings.Join(o[[2]string{g.ID, needed}], " or ")
}

// named are the ids of the groups that a group waits for, with the outcomes.
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
