package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
)

// InOrder sorts the groups of a round by the orders of their runs. Groups of a run stay in the positions that groups of
// the run had. Each run counts its own rounds, so that its order does not depend on when it begins.
func (l *Ledger) InOrder(ready []*Group) []*Group {
	ordered := slices.Clone(ready)
	places := map[string][]int{}
	for i, g := range ready {
		places[g.Run] = append(places[g.Run], i)
	}
	for run, at := range places {
		groups := make([]*Group, len(at))
		for k, i := range at {
			groups[k] = ready[i]
		}
		l.shuffle(l.Run(run).Order, run, l.rounds[run], groups)
		for k, i := range at {
			ordered[i] = groups[k]
		}
		l.rounds[run]++
	}
	return l.groupCompared(ordered)
}

func (l *Ledger) shuffle(o planner.Order, run string, round int, groups []*Group) {
	switch o.By {
	case "random":
		r := l.random(o.Seed, run, round)
		r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	case "interleave":
		interleave(o.Axis, round, groups, func(g *Group) *planner.Case { return l.planned(g.Cases[0]) })
	}
}

// interleave reverses every second round (A B B A), so that a drift favours none. With an axis, elements that differ
// only along it are adjacent, and only they are reversed.
func interleave[T any](axis string, round int, list []T, of func(T) *planner.Case) {
	if axis == "" {
		if round%2 == 1 {
			slices.Reverse(list)
		}
		return
	}
	var keys []string
	adjacent := map[string][]T{}
	for _, x := range list {
		k := pointWithout(of(x), axis)
		if _, ok := adjacent[k]; !ok {
			keys = append(keys, k)
		}
		adjacent[k] = append(adjacent[k], x)
	}
	at := 0
	for _, k := range keys {
		if round%2 == 1 {
			slices.Reverse(adjacent[k])
		}
		at += copy(list[at:], adjacent[k])
	}
}

// pointWithout is a text of a case's axis values except one.
func pointWithout(c *planner.Case, axis string) string {
	text := ""
	for _, name := range c.AxisOrder {
		if name != axis {
			text += fmt.Sprintf("%s=%s\x00", name, option.Text(c.Axes[name]))
		}
	}
	return text
}

// Arrange sorts the cases of a launch by the order of their run.
func (l *Ledger) Arrange(g *Group, cases []*planner.Case) []*planner.Case {
	cases = slices.Clone(cases)
	index := l.NextIndex(g)
	switch o := l.Run(g.Run).Order; o.By {
	case "random":
		r := l.random(o.Seed, g.ID, index)
		r.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	case "interleave":
		interleave(o.Axis, index, cases, func(c *planner.Case) *planner.Case { return c })
	}
	return cases
}

// random is a random source that is the same in every session of the scenario.
func (l *Ledger) random(seed uint64, what string, n int) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%d", seed, l.Plan.Scenario.Name, what, n))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}

// comparedRuns are runs that assertions compare. Their launches that differ only in the run are adjacent in a round,
// and every second round reverses them (A B B A), so that a drift of the machine affects all runs.
type comparedRuns struct {
	axes   []string // that all of the runs have, and that do not vary within their launches
	rounds int      // with launches of several of the runs
}

// findCompared are the compared runs of a plan, by run.
func findCompared(p *planner.Plan, groups []*Group) map[string]*comparedRuns {
	axes := map[string][]string{}
	for _, c := range p.Cases {
		axes[c.Run] = c.AxisOrder
	}
	out := map[string]*comparedRuns{}
	for _, runs := range p.Compared() {
		t := &comparedRuns{axes: slices.Clone(axes[runs[0]])}
		for _, run := range runs {
			t.axes = slices.DeleteFunc(t.axes, func(axis string) bool { return !slices.Contains(axes[run], axis) })
			out[run] = t
		}
	}
	for _, g := range groups {
		if t := out[g.Run]; t != nil {
			t.axes = slices.DeleteFunc(t.axes, g.variesOn)
		}
	}
	return out
}

func (g *Group) variesOn(axis string) bool {
	return slices.ContainsFunc(g.Wanted, func(c *planner.Case) bool {
		return option.Text(c.Axes[axis]) != option.Text(g.Wanted[0].Axes[axis])
	})
}

// point is a text of a group's values on axes that do not vary within it.
func (g *Group) point(axes []string) string {
	texts := map[string]string{}
	for _, axis := range axes {
		texts[axis] = option.Text(g.Wanted[0].Axes[axis])
	}
	return planner.Key("", texts)
}

// groupCompared moves the groups of each set of compared runs to the position of the first of them.
func (l *Ledger) groupCompared(groups []*Group) []*Group {
	together := map[*comparedRuns][]*Group{}
	for _, g := range groups {
		if t := l.index.compared[g.Run]; t != nil {
			together[t] = append(together[t], g)
		}
	}
	var out []*Group
	for _, g := range groups {
		t := l.index.compared[g.Run]
		if t == nil {
			out = append(out, g)
			continue
		}
		out = append(out, l.orderCompared(t, together[t])...)
		together[t] = nil // added
	}
	return out
}

// orderCompared sorts the groups of compared runs in a round, with adjacent groups for the same values of their common
// axes. Values are in the order of the first run, and reversed in every second round unless that run has an order
// of its own.
func (l *Ledger) orderCompared(t *comparedRuns, groups []*Group) []*Group {
	if !slices.ContainsFunc(groups, func(g *Group) bool { return g.Run != groups[0].Run }) {
		return groups
	}
	t.rounds++
	var points []string
	at := map[string][]*Group{}
	for _, g := range groups {
		point := g.point(t.axes)
		if at[point] == nil {
			points = append(points, point)
		}
		at[point] = append(at[point], g)
	}
	reversed := t.rounds%2 == 0
	if by := l.Run(groups[0].Run).Order.By; reversed && by != "random" && by != "interleave" {
		slices.Reverse(points)
	}
	var out []*Group
	for _, point := range points {
		if reversed {
			slices.Reverse(at[point])
		}
		out = append(out, at[point]...)
	}
	return out
}
