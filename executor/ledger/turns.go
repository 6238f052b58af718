package ledger

import (
	"slices"

	"weir/planner"
	"weir/workload"
)

// turns are runs that assertions compare. Launches of theirs that differ in nothing but
// the run stand next to each other in a round, and change places from round to round
// (A B B A): a drift of the machine then meets all of them alike.
type turns struct {
	axes   []string // that all of the runs have, and along which none of their launches walks
	rounds int      // so far, in which several of the runs had launches
}

// turnsOf finds which runs of a plan take turns.
func turnsOf(p *planner.Plan, groups []*Group) map[string]*turns {
	axes := map[string][]string{}
	for _, c := range p.Cases {
		axes[c.Run] = c.AxisOrder
	}
	out := map[string]*turns{}
	for _, runs := range p.Compared() {
		t := &turns{axes: slices.Clone(axes[runs[0]])}
		for _, run := range runs {
			t.axes = slices.DeleteFunc(t.axes, func(axis string) bool { return !slices.Contains(axes[run], axis) })
			out[run] = t
		}
	}
	for _, g := range groups {
		if t := out[g.Run]; t != nil {
			t.axes = slices.DeleteFunc(t.axes, g.walks)
		}
	}
	return out
}

// walks says whether the cases of a group differ on an axis.
func (g *Group) walks(axis string) bool {
	return slices.ContainsFunc(g.Wanted, func(c *planner.Case) bool {
		return workload.Text(c.Axes[axis]) != workload.Text(g.Wanted[0].Axes[axis])
	})
}

// point is the text of a group's values on axes along which it does not walk.
func (g *Group) point(axes []string) string {
	texts := map[string]string{}
	for _, axis := range axes {
		texts[axis] = workload.Text(g.Wanted[0].Axes[axis])
	}
	return planner.Key("", texts)
}

// takeTurns brings the groups of each set of compared runs together, where the first of
// them stands in the round.
func (l *Ledger) takeTurns(groups []*Group) []*Group {
	together := map[*turns][]*Group{}
	for _, g := range groups {
		if t := l.find.turns[g.Run]; t != nil {
			together[t] = append(together[t], g)
		}
	}
	var out []*Group
	for _, g := range groups {
		t := l.find.turns[g.Run]
		if t == nil {
			out = append(out, g)
			continue
		}
		out = append(out, l.inTurns(t, together[t])...)
		together[t] = nil // they are all there
	}
	return out
}

// inTurns orders the groups that compared runs have in a round. Groups at the same values
// of the axes that all runs have stand together. The order of these values is that of the
// run that comes first; where that is the order as given, every second round reverses it.
func (l *Ledger) inTurns(t *turns, groups []*Group) []*Group {
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
