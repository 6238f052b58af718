// Tables as plans.

package planner

import (
	"crypto/sha256"
	"iter"
	"slices"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results/assertion"
)

// Digest identifies everything that is run and judged.
func (t *Table) Digest() string { return t.head.Digest }

// Plan writes all cases of the table to a plan.
func (t *Table) Plan() *Plan {
	p := t.frame()
	p.Cases = slices.AppendSeq(p.Cases, t.Cases())
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

// Cases yields all cases in execution order, each run's excluded ones after its others.
func (t *Table) Cases() iter.Seq[*Case] {
	return func(yield func(*Case) bool) {
		for _, run := range t.runs {
			for r := range run.inOrder() {
				if !yield(r.write(t)) {
					return
				}
			}
		}
	}
}

// inOrder yields the rows in execution order, then the excluded ones.
func (t *runTable) inOrder() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		parts := [][]*row{t.rows} // of a plan before grouping
		if t.launches != nil {
			parts = nil
		}
		for _, g := range t.launches {
			parts = append(parts, g.all)
		}
		for _, part := range append(parts, t.excluded) {
			for _, r := range part {
				if !yield(r) {
					return
				}
			}
		}
	}
}

func (t *Table) acrossCases() []assertion.Assertion {
	out := []assertion.Assertion{}
	for _, run := range t.runs {
		for _, a := range t.multiCase {
			if a.run == run.run.Name {
				out = append(out, a.assertion)
			}
		}
	}
	return out
}

// write writes the case out.
func (r *row) write(t *Table) *Case {
	c := &Case{
		Key: r.key(), Run: r.run.Name, Workload: r.run.Workload.Name, Axes: map[string]any{},
		AxisOrder: r.axisNames(r.allAxes()),
		Needs:     []string{}, Secrets: r.run.Secrets, When: r.when, Timeout: r.run.Timeout.Seconds(),
		Assertions: []assertion.Assertion{}, Status: Planned, Reason: r.reason,
	}
	for axis, a := range r.run.Axes {
		c.Axes[a.Name] = r.value(axis).Value
	}
	if r.id != [32]byte{} {
		c.ID = text(r.id)
	}
	if r.isExcluded {
		c.Status = Excluded
		r.settings(c)
		ranks, _ := c.Options["ranks"].(int64)
		c.Place = t.place(r.run, int(ranks))
		c.ID = text(sha256.Sum256(c.content(r.context)))
		return c
	}
	if r.reason != "" {
		c.Status = Skipped
	}
	c.Options, c.Place = r.options(), t.place(r.run, r.ranks())
	c.Env, c.EnvLater, c.Unset = r.env()
	for _, n := range r.needs {
		for _, key := range n.of(r).texts() {
			c.Needs = append(c.Needs, key)
			if n.On != success {
				if c.NeedsOn == nil {
					c.NeedsOn = map[string]string{}
				}
				c.NeedsOn[key] = n.On
			}
		}
	}
	if r.judged != nil {
		c.Assertions = r.judged.list
	}
	return c
}

// settings writes the settings of an excluded case, except those that cannot be computed.
func (r *row) settings(c *Case) {
	c.Options, c.Env = option.Values{}, map[string]string{}
	for _, setting := range r.run.Settings() {
		v, _ := setting.Value(r.at(setting.Axes))
		if _, ok := v.(dsl.Unset); ok {
			c.Unset = append(c.Unset, setting.Name)
		} else if text, ok := v.(string); ok && setting.Env {
			c.Env[setting.Name] = text
		} else if later, ok := v.(option.Deferred); ok && setting.Env {
			c.Env[setting.Name], c.EnvLater = string(later), append(c.EnvLater, setting.Name)
		} else if v != nil && !setting.Env {
			c.Options[setting.Name] = v
		}
	}
	slices.Sort(c.Unset)
	c.Options = r.run.Workload.Applicable(c.Options)
}

func (g *group) write(t *Table) *LaunchGroup {
	out := &LaunchGroup{ID: g.id, Run: g.run.Name, Ranks: g.ranks, Looks: g.run.Launches, Needs: []string{}}
	for _, r := range g.cases {
		out.Cases = append(out.Cases, r.key())
	}
	for _, n := range g.after {
		out.Needs = append(out.Needs, t.groups[n].id)
	}
	for _, n := range g.during {
		out.During = append(out.During, t.groups[n].id)
	}
	return out
}
