package executor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
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

// rounds are the orders of this number of rounds, as "A1 A2".
func rounds(p *planner.Plan, n int) []string {
	s := newSession(p, Options{})
	var all []string
	for range n {
		var ids []string
		for _, g := range s.ledger.InOrder(s.ledger.Groups) {
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

		"along f": {planner.Order{By: "interleave", Axis: "f"}, []string{"A1 B1 A2 B2", "B1 A1 B2 A2", "A1 B1 A2 B2"}},
		"along s": {planner.Order{By: "interleave", Axis: "s"}, []string{"A1 A2 B1 B2", "A2 A1 B2 B1", "A1 A2 B1 B2"}},
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
		if e.Type == event.CaseStarted {
			orders[*e.Launch] = append(orders[*e.Launch], e.Case)
		}
	}
	if len(orders[0]) != 8 || len(orders[1]) != 8 || slices.Equal(orders[0], orders[1]) || slices.IsSorted(orders[0]) {
		t.Errorf("orders %v", orders)
	}
}

func TestInterleavedLaunches(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	b.run(grid(planner.Order{By: "interleave", Axis: "f"}, 2))
	if got, want := b.launches(), "A10 B10 A20 B20 B11 A11 B21 A21"; got != want {
		t.Errorf("launches %s, want %s", got, want)
	}
}

// compares gives a case an assertion against cases of other runs.
func compares(keys ...string) func(*planner.Case) {
	return func(c *planner.Case) {
		for _, key := range keys {
			of := func(key string) *assertion.Expr {
				return &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Case: key}
			}
			c.Assertions = append(c.Assertions, assertion.Assertion{
				Name: "against " + key, Severity: assertion.Gate, Subject: &assertion.Expr{
					Op: assertion.Div, Args: []*assertion.Expr{of(""), of(key)},
				},
			})
		}
	}
}

func TestComparedRunsTakeTurns(t *testing.T) {
	plan := func(orders map[string]planner.Order, cases ...*planner.Case) *planner.Plan {
		p := &planner.Plan{Schema: planner.Schema, Digest: "sha256:turns"}
		for _, c := range cases {
			p.Cases = append(p.Cases, c)
			p.Groups = append(p.Groups, aGroup(c.Key, []*planner.Case{c}, 4))
		}
		for run, o := range orders {
			p.Runs = append(p.Runs, &planner.Run{Name: run, Order: o})
		}
		return p
	}
	at := func(run, x string, more ...func(*planner.Case)) *planner.Case {
		return aCase(run+"["+x+"]", append(more,
			func(c *planner.Case) { c.Axes, c.AxisOrder = map[string]any{"x": x}, []string{"x"} })...)
	}
	interleaved := map[string]planner.Order{"a": {By: "interleave"}, "b": {By: "interleave"}}
	for name, test := range map[string]struct {
		plan *planner.Plan
		want []string // rounds
	}{
		"A B B A":      {plan(nil, aCase("a"), aCase("b", compares("a"))), []string{"a b", "b a", "a b", "b a"}},
		"not compared": {plan(nil, aCase("a"), aCase("b")), []string{"a b", "a b", "a b", "a b"}},
		"within one run": {plan(nil, aCase("a[1]"), aCase("a[2]", compares("a[1]"))),
			[]string{"a[1] a[2]", "a[1] a[2]"}},
		"no axis in common": {plan(nil, aCase("a[1]"), aCase("a[2]"), aCase("b[1]", compares("a[1]")),
			aCase("b[2]", compares("a[2]"))), []string{
			"a[1] a[2] b[1] b[2]", "b[2] b[1] a[2] a[1]", "a[1] a[2] b[1] b[2]",
		}},
		"each beside its like": {plan(nil, at("a", "1"), at("a", "2"), at("b", "1", compares("a[1]")),
			at("b", "2", compares("a[2]"))), []string{
			"a[1] b[1] a[2] b[2]", "b[2] a[2] b[1] a[1]", "a[1] b[1] a[2] b[2]",
		}},
		"values that one run lacks": {plan(nil, at("a", "1"), at("a", "2"), at("b", "2", compares("a[2]")),
			at("b", "3")), []string{
			"a[1] a[2] b[2] b[3]", "b[3] b[2] a[2] a[1]", "a[1] a[2] b[2] b[3]",
		}},
		"one against a sweep": {plan(nil, at("a", "1"), at("a", "2"), aCase("b", compares("a[1]", "a[2]"))),
			[]string{"a[1] a[2] b", "b a[2] a[1]"}},
		"an order of its own": {plan(interleaved, at("a", "1"), at("a", "2"), at("b", "1", compares("a[1]")),
			at("b", "2")), []string{
			"a[1] b[1] a[2] b[2]", "b[2] a[2] b[1] a[1]", "a[1] b[1] a[2] b[2]",
		}},
		"others stay out": {plan(nil, aCase("w"), aCase("a"), aCase("x"), aCase("b", compares("a")), aCase("y")),
			[]string{"w a b x y", "w b a x y", "w a b x y"}},
		"by way of a third": {plan(nil, aCase("a"), aCase("b", compares("a")), aCase("c", compares("b"))),
			[]string{"a b c", "c b a", "a b c"}},
		"joined later": {plan(nil, aCase("a"), aCase("b", compares("a")), aCase("c"), aCase("d", compares("c")),
			aCase("e", compares("d", "b"))), []string{
			"a b c d e", "e d c b a", "a b c d e",
		}},
		"two pairs": {plan(nil, aCase("a"), aCase("c"), aCase("b", compares("a")), aCase("d", compares("c"))),
			[]string{"a b c d", "b a d c", "a b c d"}},
	} {
		if got := rounds(test.plan, len(test.want)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Over any two rounds of compared runs, each case comes on average as early as every other that its assertions
// compare it with: a steady drift favours none. A resumed session has the same rounds.
func TestComparedRunsAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &planner.Plan{Schema: planner.Schema, Digest: "sha256:turns"}
		n := rapid.IntRange(2, 4).Draw(t, "runs")
		var keys []string
		for run := range n {
			for x := range rapid.IntRange(1, 3).Draw(t, "cases") {
				keys = append(keys, fmt.Sprintf("%c[%d]", 'a'+run, x))
			}
		}
		pairs := map[string][]string{}
		for _, key := range keys[1:] {
			if other := keys[0]; key[0] != other[0] && rapid.Bool().Draw(t, "compared") {
				pairs[key] = []string{other}
			}
		}
		order := keys
		if rapid.Bool().Draw(t, "mixed") {
			order = rapid.Permutation(keys).Draw(t, "order")
		}
		for _, key := range order {
			c := aCase(key, compares(pairs[key]...), func(c *planner.Case) {
				c.Axes, c.AxisOrder = map[string]any{"x": key[1:]}, []string{"x"}
			})
			p.Cases = append(p.Cases, c)
			p.Groups = append(p.Groups, aGroup(key, []*planner.Case{c}, 4))
		}
		all := rounds(p, 4)
		if again := rounds(p, 4); !slices.Equal(all, again) {
			t.Fatalf("%v, and again %v", all, again)
		}
		at := func(round int, key string) int {
			return slices.Index(strings.Fields(all[round]), key) + round*len(keys)
		}
		for key, others := range pairs {
			for first := 0; first < len(all); first += 2 {
				for _, other := range others {
					if x, y := at(first, key)+at(first+1, key), at(first, other)+at(first+1, other); x != y {
						t.Fatalf("%s at %d/2 and %s at %d/2 of %v", key, x, other, y, all)
					}
				}
			}
		}
	})
}

// Compared runs take turns, and a session that was interrupted at any launch continues with them.
func TestTurnsAreResumed(t *testing.T) {
	phase.Long(t)
	plan := func() *planner.Plan {
		quick := withOption("iterations", int64(2))
		a, c := []*planner.Case{aCase("a", quick)}, []*planner.Case{aCase("b", quick, compares("a"))}
		return aPlan(slices.Concat(a, c), aGroup("A", a, 4), aGroup("B", c, 4))
	}
	const want = "A0 B0 B1 A1 A2 B2 B3 A3"
	whole := newBench(t)
	whole.run(plan())
	if got := whole.launches(); got != want {
		t.Fatalf("launches %s, want %s", got, want)
	}
	for after := 1; after < 4; after++ {
		b := newBench(t)
		if _, was := b.interrupted(plan(), "b", after); !was {
			t.Fatal("it was not interrupted")
		}
		b.run(plan(), func(o *Options) { o.Resume = true })
		if got := b.launches(); got != want {
			t.Errorf("cut after %d: launches %s, want %s", after, got, want)
		}
	}
}

// TestDecidedGroupIsReopened: an assertion over both asks for more launches of the first only when the second has
// been measured. They then take turns.
func TestDecidedGroupIsReopened(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	x, y := []*planner.Case{aCase("x")}, []*planner.Case{aCase("y", needs("x"))}
	g := aGroup("Y", y, 2, 4)
	g.Needs = []string{"X"}
	p := aPlan(slices.Concat(x, y), aGroup("X", x, 2, 4), g)
	p.Runs = []*planner.Run{
		{Name: "x", Setup: []planner.Command{b.noting("up")}, Teardown: []planner.Command{b.noting("down")}},
	}
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
