package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"weir/assertion"
	"weir/workload"
)

// group puts cases that can share processes into one launch each, and brings
// the cases into execution order, which is that of the groups.
func group(d *draft) {
	p := d.plan
	p.Cases, p.Groups, p.Assertions = []*Case{}, []*LaunchGroup{}, []assertion.Assertion{}
	ids := map[string]int{}
	for _, r := range d.runs {
		byProcess := map[string]*LaunchGroup{}
		members := map[*LaunchGroup][]*Case{}
		var groups []*LaunchGroup
		for _, c := range r.cases {
			k := c.process(r.run.Workload)
			g := byProcess[k]
			if g == nil {
				g = &LaunchGroup{Run: r.run.Name, Ranks: c.ranks(), Looks: r.run.Launches, ID: c.groupID(r, r.run.Workload)}
				ids[g.ID]++
				if n := ids[g.ID]; n > 1 {
					g.ID = fmt.Sprintf("%s#%d", g.ID, n)
				}
				byProcess[k] = g
				groups = append(groups, g)
			}
			members[g] = append(members[g], c.Case)
		}
		for _, g := range groups {
			for _, c := range members[g] {
				g.Cases = append(g.Cases, c.Key)
				p.Cases = append(p.Cases, c)
			}
		}
		p.Groups = append(p.Groups, groups...)
		for _, t := range d.trends {
			if t.run == r.run.Name {
				p.Assertions = append(p.Assertions, t.assertion)
			}
		}
	}
	p.skipDownstream()
	p.regroup()
}

// process is everything that is fixed when a rank process starts.
func (c *Case) process(k *workload.Kind) string {
	fixed := map[string]any{}
	for _, o := range k.Options {
		if v, ok := c.Options[o.Name]; ok && o.Process {
			fixed[o.Name] = v
		}
	}
	b, err := json.Marshal([]any{fixed, c.Env, c.Place})
	if err != nil {
		panic(err) // values are strings, numbers and booleans
	}
	return string(b)
}

// groupID names a group by its run and those axes that its processes depend on.
func (c *draftCase) groupID(r *draftRun, k *workload.Kind) string {
	texts := map[string]string{}
	for i, a := range r.run.Axes {
		o, isOption := k.Option(a.Name)
		if isOption && o.Process || strings.HasPrefix(a.Name, "env.") {
			texts[a.Name] = c.point[i].Text
		}
	}
	return Key(r.run.Name, texts)
}

// ranks is how many processes the case's launch has.
func (c *Case) ranks() int {
	if n, ok := c.Options["ranks"].(int64); ok {
		return int(n)
	}
	return 1
}

// regroup drops cases that do not run from the groups, and empty groups, and
// draws the edges between the groups that are left.
func (p *Plan) regroup() {
	byKey := make(map[string]*Case, len(p.Cases))
	for _, c := range p.Cases {
		byKey[c.Key] = c
	}
	groupOf := map[string]string{}
	p.Groups = slices.DeleteFunc(p.Groups, func(g *LaunchGroup) bool {
		g.Cases = slices.DeleteFunc(g.Cases, func(key string) bool { return byKey[key].Status != Planned })
		for _, key := range g.Cases {
			groupOf[key] = g.ID
		}
		return len(g.Cases) == 0
	})
	for _, g := range p.Groups {
		g.Needs = []string{}
		for _, key := range g.Cases {
			for _, n := range byKey[key].Needs {
				if id := groupOf[n]; !slices.Contains(g.Needs, id) {
					g.Needs = append(g.Needs, id)
				}
			}
		}
	}
}
