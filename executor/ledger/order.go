package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"weir/planner"
	"weir/workload"
)

// InOrder brings the groups of a round into the order that their runs ask for.
// Each run's groups take the places that they have in the plan among themselves;
// a run counts its own rounds, so that it begins alike whenever it begins.
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
	return l.takeTurns(ordered)
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

// interleave reverses every second round (A B B A), so that a drift in one
// direction favours nobody. Along an axis, those that differ in nothing else
// come next to each other, and only they change places.
func interleave[T any](axis string, round int, list []T, of func(T) *planner.Case) {
	if axis == "" {
		if round%2 == 1 {
			slices.Reverse(list)
		}
		return
	}
	var keys []string
	apart := map[string][]T{}
	for _, x := range list {
		k := without(of(x), axis)
		if _, ok := apart[k]; !ok {
			keys = append(keys, k)
		}
		apart[k] = append(apart[k], x)
	}
	at := 0
	for _, k := range keys {
		if round%2 == 1 {
			slices.Reverse(apart[k])
		}
		at += copy(list[at:], apart[k])
	}
}

// without is a case's point apart from one axis.
func without(c *planner.Case, axis string) string {
	text := ""
	for _, name := range c.AxisOrder {
		if name != axis {
			text += fmt.Sprintf("%s=%s\x00", name, workload.Text(c.Axes[name]))
		}
	}
	return text
}

// Arrange brings the cases of a launch into the order that their run asks for.
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

// random is a source that is the same in every session of the scenario.
func (l *Ledger) random(seed uint64, what string, n int) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%d", seed, l.Plan.Scenario.Name, what, n))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}
