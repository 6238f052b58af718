package planner

import (
	"crypto/sha256"
	"iter"
	"slices"

	"weir/assertion"
	"weir/dsl"
	"weir/workload"
)

// Digest identifies what will be run and judged.
func (t *Table) Digest() string { return t.head.Digest }

// Plan writes the plan out.
func (t *Table) Plan() *Plan {
	p := t.frame()
	for c := range t.Cases() {
		p.Cases = append(p.Cases, c)
	}
	return p
}

// frame is the plan without its cases.
func (t *Table) frame() *Plan {
	p := *t.head
	p.Cases, p.Groups, p.Assertions = []*Case{}, []*LaunchGroup{}, t.acrossCases()
	for _, g := range t.groups {
		p.Groups = append(p.Groups, g.write(t))
	}
	return &p
}

// Cases gives all cases in execution order, each run's excluded ones after its others.
func (t *Table) Cases() iter.Seq[*Case] {
	return func(yield func(*Case) bool) {
		for _, s := range t.sheets {
			for _, g := range s.clusters {
				for _, i := range g.all {
					if !yield(s.liveCase(t, int(i))) {
						return
					}
				}
			}
			for i := range s.excluded.reasons {
				if !yield(s.excludedCase(t, i)) {
					return
				}
			}
		}
	}
}

func (t *Table) acrossCases() []assertion.Assertion {
	out := []assertion.Assertion{}
	for _, s := range t.sheets {
		for _, a := range t.spanning {
			if a.run == s.run.Name {
				out = append(out, a.assertion)
			}
		}
	}
	return out
}

// newCase is what live and excluded cases have in common.
func (s *sheet) newCase(t *Table, columns [][]int32, i int) *Case {
	c := &Case{
		Key: s.key(columns, i), Run: s.run.Name, Workload: s.run.Workload.Name, Axes: map[string]any{},
		AxisOrder: []string{},
		Needs:     []string{}, Secrets: s.run.Secrets, When: s.when, Timeout: s.run.Timeout.Seconds(),
		Assertions: []assertion.Assertion{}, Status: Planned,
	}
	for axis, a := range s.run.Axes {
		c.Axes[a.Name] = s.value(columns, axis, i).Value
		c.AxisOrder = append(c.AxisOrder, a.Name)
	}
	return c
}

// keptKey is the key of a case that many others may need.
func (s *sheet) keptKey(i int) string {
	if s.keys == nil {
		s.keys = make([]string, s.live)
	}
	if s.keys[i] == "" {
		s.keys[i] = s.key(s.columns, i)
	}
	return s.keys[i]
}

func (s *sheet) liveCase(t *Table, i int) *Case {
	c := s.newCase(t, s.columns, i)
	c.Options, c.Place = s.options(i), t.place(s.run, s.ranks(i))
	c.Env, c.EnvLater = s.env(i)
	c.Unset = s.unset(i)
	for _, e := range s.needs {
		for _, u := range e.lists.at(i).cases {
			key := e.upstream.keptKey(int(u))
			c.Needs = append(c.Needs, key)
			if e.On != success {
				if c.NeedsOn == nil {
					c.NeedsOn = map[string]string{}
				}
				c.NeedsOn[key] = e.On
			}
		}
	}
	if s.assertions.classes != nil {
		c.Assertions = s.assertions.at(i).list
	}
	if s.skipped.classes != nil {
		if reason := s.reason(i); reason != "" {
			c.skip(reason)
		}
	}
	if s.ids != nil {
		c.ID = text(s.ids[i])
	}
	return c
}

// excludedCase is a point that does not run; options that cannot be computed
// there are left out.
func (s *sheet) excludedCase(t *Table, i int) *Case {
	c := s.newCase(t, s.excluded.columns, i)
	c.Status, c.Reason = Excluded, s.excluded.reasons[i]
	c.Options, c.Env = workload.Values{}, map[string]string{}
	for _, setting := range s.run.Settings() {
		v, _ := setting.Value(s.at(s.excluded.columns, setting.Axes, i))
		if _, ok := v.(dsl.Unset); ok {
			c.Unset = append(c.Unset, setting.Name)
		} else if text, ok := v.(string); ok && setting.Env {
			c.Env[setting.Name] = text
		} else if later, ok := v.(workload.Deferred); ok && setting.Env {
			c.Env[setting.Name], c.EnvLater = string(later), append(c.EnvLater, setting.Name)
		} else if v != nil && !setting.Env {
			c.Options[setting.Name] = v
		}
	}
	slices.Sort(c.Unset)
	c.Options = s.run.Workload.Applicable(c.Options)
	ranks, _ := c.Options["ranks"].(int64)
	c.Place = t.place(s.run, int(ranks))
	c.ID = text(sha256.Sum256(c.content(s.around)))
	return c
}

func (g *tableGroup) write(t *Table) *LaunchGroup {
	out := &LaunchGroup{ID: g.id, Run: g.sheet.run.Name, Ranks: g.ranks, Looks: g.sheet.run.Launches, Needs: []string{}}
	for _, i := range g.cases {
		out.Cases = append(out.Cases, g.sheet.key(g.sheet.columns, int(i)))
	}
	for _, n := range g.needs {
		out.Needs = append(out.Needs, t.groups[n].id)
	}
	for _, n := range g.during {
		out.During = append(out.During, t.groups[n].id)
	}
	return out
}
