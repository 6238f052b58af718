package executor

import (
	"slices"
	"strings"
	"testing"

	"weir/planner"
	"weir/results"
)

// grid is a plan of one run with a group for each point of two axes.
func grid(o planner.Order, launches int) *planner.Plan {
	p := &planner.Plan{Schema: planner.Schema, Digest: "sha256:grid", Runs: []*planner.Run{{Name: "r", Order: o}}}
	for _, fabric := range []string{"A", "B"} {
		for _, size := range []string{"1", "2"} {
			c := aCase("r["+fabric+size+"]", func(c *planner.Case) {
				c.Axes, c.AxisOrder = map[string]any{"f": fabric, "s": size}, []string{"f", "s"}
			})
			p.Cases = append(p.Cases, c)
			p.Groups = append(p.Groups, aGroup(fabric+size, []*planner.Case{c}, launches))
		}
	}
	return p
}

// rounds are the orders of so many rounds, as "A1 A2".
func rounds(p *planner.Plan, n int) []string {
	s := newSession(p, Options{})
	var all []string
	for range n {
		var ids []string
		for _, g := range s.inOrder(s.groups) {
			ids = append(ids, g.ID)
		}
		all = append(all, strings.Join(ids, " "))
	}
	return all
}

func TestOrderOfRounds(t *testing.T) {
	for name, test := range map[string]struct {
		order planner.Order
		want  []string
	}{
		"given":      {planner.Order{By: "given"}, []string{"A1 A2 B1 B2", "A1 A2 B1 B2", "A1 A2 B1 B2"}},
		"interleave": {planner.Order{By: "interleave"}, []string{"A1 A2 B1 B2", "B2 B1 A2 A1", "A1 A2 B1 B2"}},
		"along f":    {planner.Order{By: "interleave", Axis: "f"}, []string{"A1 B1 A2 B2", "B1 A1 B2 A2", "A1 B1 A2 B2"}},
		"along s":    {planner.Order{By: "interleave", Axis: "s"}, []string{"A1 A2 B1 B2", "A2 A1 B2 B1", "A1 A2 B1 B2"}},
	} {
		if got := rounds(grid(test.order, 3), 3); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestRandomOrderFollowsFromItsSeed(t *testing.T) {
	seed := func(n uint64) []string { return rounds(grid(planner.Order{By: "random", Seed: n}, 3), 20) }
	one := seed(1)
	if !slices.Equal(one, seed(1)) {
		t.Error("the same seed gives another order")
	}
	if slices.Equal(one, seed(2)) {
		t.Error("another seed gives the same order")
	}
	slices.Sort(one)
	if len(slices.Compact(one)) < 5 {
		t.Errorf("20 rounds have hardly any different orders: %v", one)
	}
	other := grid(planner.Order{By: "random", Seed: 1}, 3)
	other.Scenario.Name = "other"
	if slices.Equal(seed(1), rounds(other, 20)) {
		t.Error("another scenario has the same order")
	}
}

func TestRandomOrderOfCasesInALaunch(t *testing.T) {
	b := newBench(t)
	var cases []*planner.Case
	for _, x := range strings.Split("abcdefgh", "") {
		cases = append(cases, aCase("r["+x+"]"))
	}
	p := aPlan(cases, aGroup("g", cases, 2))
	p.Runs = []*planner.Run{{Name: "r", Order: planner.Order{By: "random", Seed: 3}}}
	b.run(p)
	orders := map[int][]string{}
	for _, e := range b.events {
		if e.Type == CaseStarted {
			orders[*e.Launch] = append(orders[*e.Launch], e.Case)
		}
	}
	if len(orders[0]) != 8 || len(orders[1]) != 8 || slices.Equal(orders[0], orders[1]) || slices.IsSorted(orders[0]) {
		t.Errorf("orders %v", orders)
	}
}

func TestInterleavedLaunches(t *testing.T) {
	b := newBench(t)
	b.run(grid(planner.Order{By: "interleave", Axis: "f"}, 2))
	if got, want := b.launches(), "A10 B10 A20 B20 B11 A11 B21 A21"; got != want {
		t.Errorf("launches %s, want %s", got, want)
	}
}

// TestDecidedGroupIsReopened: an assertion over both asks for more of the first
// only when the second has been measured. They then take turns.
func TestDecidedGroupIsReopened(t *testing.T) {
	b := newBench(t)
	x, y := []*planner.Case{aCase("x")}, []*planner.Case{aCase("y", needs("x"))}
	g := aGroup("Y", y, 2, 4)
	g.Needs = []string{"X"}
	p := aPlan(slices.Concat(x, y), aGroup("X", x, 2, 4), g)
	p.Runs = []*planner.Run{{Name: "x", Setup: []planner.Command{b.noting("up")}, Teardown: []planner.Command{b.noting("down")}}}
	judge := func(d *results.Document) { d.Summarize() }
	undecided := func(d *results.Document) []string {
		if nx, ny := len(d.Case("x").Launches), len(d.Case("y").Launches); ny > 0 && min(nx, ny) < 4 {
			return []string{"x", "y"}
		}
		return nil
	}
	doc := b.run(p, func(o *Options) { o.Judge, o.Undecided = judge, undecided })
	if got, want := b.launches(), "X0 X1 Y0 Y1 X2 Y2 X3 Y3"; got != want {
		t.Errorf("launches %s, want %s", got, want)
	}
	if got := b.noted(); got != "up down up down" {
		t.Errorf("its commands ran as %s", got)
	}
	if len(doc.Case("x").Launches) != 4 {
		t.Errorf("x has %d launches", len(doc.Case("x").Launches))
	}
}
