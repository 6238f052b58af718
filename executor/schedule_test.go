package executor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// judgeBy makes a judge that takes the verdicts of each case's assertions from a table by number of launches.
func judgeBy(table map[string][]results.Verdict) (func(*results.Document), func(*results.Document) []string) {
	of := func(c *results.Case) results.Verdict {
		n := len(c.Launches)
		if v := table[c.Key]; n > 0 && len(v) > 0 {
			return v[min(n, len(v))-1]
		}
		return results.SkippedVerdict
	}
	judge := func(d *results.Document) {
		for _, c := range d.Cases {
			for _, a := range c.Assertions {
				a.Verdict = of(c)
			}
		}
		d.Summarize()
	}
	undecided := func(d *results.Document) []string {
		var keys []string
		for _, c := range d.Cases {
			if of(c) == results.InconclusiveVerdict {
				keys = append(keys, c.Key)
			}
		}
		return keys
	}
	return judge, undecided
}

const (
	open = results.InconclusiveVerdict
	pass = results.Pass
	fail = results.Fail
)

func TestOnlyUndecidedCasesGetMoreLaunches(t *testing.T) {
	b := newBench(t)
	cases := []*planner.Case{aCase("c[x=1]", gated), aCase("c[x=2]", gated), aCase("c[x=3]", gated)}
	judge, undecided := judgeBy(map[string][]results.Verdict{
		"c[x=1]": {open, pass},
		"c[x=2]": {open, open, open, open},
		"c[x=3]": {open, open, pass},
	})
	judged := 0
	doc := b.run(aPlan(cases, aGroup("g", cases, 2, 3, 4)), func(o *Options) {
		o.Judge = func(d *results.Document) { judged++; judge(d) }
		o.Undecided = undecided
	})
	for key, want := range map[string]int{"c[x=1]": 2, "c[x=2]": 4, "c[x=3]": 3} {
		if got := len(doc.Case(key).Launches); got != want {
			t.Errorf("%s has %d launches, want %d", key, got, want)
		}
	}
	if judged != 4 { // at each of the three looks, and at the end
		t.Errorf("judged %d times, want once at each look and once at the end", judged)
	}
	if n := b.count(event.VerdictReached, "c[x=3]"); n != 2 {
		t.Errorf("%d verdict events for a case that was inconclusive and then passed", n)
	}
	for _, c := range cases {
		if n := b.count(event.CaseEnded, c.Key); n != 1 {
			t.Errorf("%s ended %d times", c.Key, n)
		}
	}
	if looks := doc.Case("c[x=1]").Assertions[0].Looks; !slices.Equal(looks, []int{2, 3, 4}) {
		t.Errorf("looks in the document: %v", looks)
	}
}

// aPattern is a case of a sequence of two ranks.
func aPattern(key string, place int64) *planner.Case {
	c := aCase(key, gated)
	c.Workload = "traffic_sequence"
	c.Options = option.Values{
		"fabric": "shm", "matrix": "2: 0>1=4096", "pattern": place, "iterations": int64(2),
		"isolated_iterations": int64(3),
	}
	return c
}

// All patterns of a sequence are launched while any of them is undecided.
func TestSequencesAreLaunchedAsAWhole(t *testing.T) {
	b := newBench(t)
	cases := []*planner.Case{aPattern("kv[pattern=0]", 0), aPattern("kv[pattern=1]", 1), aPattern("kv[pattern=2]", 2)}
	judge, undecided := judgeBy(map[string][]results.Verdict{
		"kv[pattern=0]": {pass, pass, pass}, "kv[pattern=1]": {open, open, pass}, "kv[pattern=2]": {pass, pass, pass},
	})
	doc := b.run(aPlan(cases, aGroup("g", cases, 1, 2, 3)), func(o *Options) {
		o.Judge, o.Undecided = judge, undecided
		o.reduce = func(*workload.Measured, *results.Launch) (map[string]float64, error) {
			return map[string]float64{"latency": 1}, nil
		}
	})
	for _, c := range cases {
		if got := doc.Case(c.Key); len(got.Launches) != 3 || got.Status != results.OK {
			t.Errorf("%s is %s (%s) with %d launches: %+v", c.Key, got.Status, got.Reason, len(got.Launches),
				got.Launches)
		}
	}
}

func TestGroupsTakeTurns(t *testing.T) {
	b := newBench(t)
	a, c, d := []*planner.Case{aCase("a")}, []*planner.Case{aCase("c")}, []*planner.Case{aCase("d")}
	b.run(aPlan(slices.Concat(a, c, d), aGroup("A", a, 3), aGroup("B", c, 2), aGroup("C", d, 3)))
	if got, want := b.launches(), "A0 B0 C0 A1 B1 C1 A2 C2"; got != want {
		t.Errorf("launches %s, want %s", got, want)
	}
}

func TestLaunchesAsAsked(t *testing.T) {
	b := newBench(t)
	c := []*planner.Case{aCase("c", gated)}
	doc := b.run(aPlan(c, aGroup("g", c, 3, 5, 8)), func(o *Options) { o.Launches = 2 })
	if n := len(doc.Case("c").Launches); n != 2 {
		t.Errorf("%d launches, want the 2 that were asked for", n)
	}
	if looks := doc.Case("c").Assertions[0].Looks; !slices.Equal(looks, []int{2}) {
		t.Errorf("looks in the document: %v", looks)
	}
}

func TestNeedsOrderAndCause(t *testing.T) {
	b := newBench(t)
	first := []*planner.Case{aCase("first[x=1]", gated), aCase("first[x=2]", gated)}
	second := []*planner.Case{aCase("second[x=1]", needs("first[x=1]")), aCase("second[x=2]", needs("first[x=2]"))}
	third := []*planner.Case{aCase("third", needs("second[x=1]", "second[x=2]"))}
	g1, g2, g3 := aGroup("F", first, 2), aGroup("S", second, 2), aGroup("T", third)
	g2.Needs, g3.Needs = []string{"F"}, []string{"S"}
	judge, undecided := judgeBy(map[string][]results.Verdict{"first[x=1]": {pass, pass}, "first[x=2]": {open, fail}})
	doc := b.run(aPlan(slices.Concat(first, second, third), g3, g2, g1),
		func(o *Options) { o.Judge, o.Undecided = judge, undecided })

	if got, want := b.launches(), "F0 F1 S0 S1"; got != want {
		t.Errorf("launches %s, want %s", got, want)
	}
	if c := doc.Case("second[x=1]"); c.Status != results.OK {
		t.Errorf("its need is met, but it is %s: %s", c.Status, c.Reason)
	}
	const cause = `not run: needs first[x=2], where "a of first[x=2]" does not hold`
	for _, key := range []string{"second[x=2]", "third"} {
		if c := doc.Case(key); c.Status != results.Skipped || c.Reason != cause {
			t.Errorf("%s is %s: %s\nwant the one cause: %s", key, c.Status, c.Reason, cause)
		}
	}
}

func TestNeedOfACaseThatCrashed(t *testing.T) {
	b := newBench(t)
	up, down := []*planner.Case{aCase("up", env(faultEnv, "kill run 1"))}, []*planner.Case{aCase("down", needs("up"))}
	g := aGroup("D", down)
	g.Needs = []string{"U"}
	doc := b.run(aPlan(slices.Concat(up, down), aGroup("U", up), g))
	if c := doc.Case("down"); c.Status != results.Skipped ||
		!strings.HasPrefix(c.Reason, "not run: needs up, which failed: launch 1: rank 1") {
		t.Errorf("down is %s: %s", c.Status, c.Reason)
	}
}

func TestFailFastEndsTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		fault   string
		verdict results.Verdict
	}{
		"error": {fault: "kill run 1", verdict: pass},
		"gate":  {fault: "none", verdict: fail},
	} {
		b := newBench(t)
		first, second := []*planner.Case{aCase("first", gated, env(faultEnv, test.fault))},
			[]*planner.Case{aCase("second")}
		judge, undecided := judgeBy(map[string][]results.Verdict{"first": {test.verdict}})
		g := aGroup("S", second)
		g.Needs = []string{"F"}
		doc := b.run(aPlan(slices.Concat(first, second), aGroup("F", first), g), func(o *Options) {
			o.Judge, o.Undecided, o.FailFast = judge, undecided, true
		})
		if got := b.launches(); got != "F0" {
			t.Errorf("%s: launches %s", name, got)
		}
		if c := doc.Case("second"); c.Status != results.Skipped || !c.NotReached() ||
			!strings.Contains(c.Reason, "--fail-fast: ") {
			t.Errorf("%s: second is %s: %s", name, c.Status, c.Reason)
		}
	}
}

func TestOnlyFabricsThatMatterAreProbed(t *testing.T) {
	conditional := aCase("c", func(c *planner.Case) { c.When = "x" })
	skipped := aCase("s", withOption("fabric", "ucx"), func(c *planner.Case) { c.Status = planner.Skipped })
	asks := func(ok bool) func(*planner.Case) ([]string, bool) {
		return func(*planner.Case) ([]string, bool) { return []string{"nixl"}, ok }
	}
	for name, test := range map[string]struct {
		cases []*planner.Case
		asks  func(*planner.Case) ([]string, bool)
		want  []string
	}{
		"those of planned cases": {[]*planner.Case{aCase("c"), skipped}, nil, []string{"shm"}},
		"auto is one of two": {[]*planner.Case{aCase("c", withOption("fabric", "auto"))}, nil,
			[]string{"shm", "tcp"}},
		"auto between nodes": {[]*planner.Case{aCase("c", withOption("fabric", "auto"),
			func(c *planner.Case) { c.Place.Nodes = 2 })}, nil, []string{"libfabric", "shm", "tcp", "ucx"}},
		"and those of conditions": {[]*planner.Case{conditional}, asks(true), []string{"nixl", "shm"}},

		"a condition that may ask any": {[]*planner.Case{aCase("d"), conditional}, asks(false), nil},

		"an unparsed condition": {[]*planner.Case{conditional}, nil, nil},
	} {
		s := newSession(onePlan(test.cases...), Options{Fabrics: test.asks})
		if got := s.fabrics(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestEverythingMissingIsNamedBeforeAnythingIsLaunched(t *testing.T) {
	b := newBench(t)
	cases := []*planner.Case{
		aCase("ucx", withOption("fabric", "ucx")),
		aCase("gpus", func(c *planner.Case) { c.Place.GPUsPerRank = 1 }),
		aCase("two", func(c *planner.Case) { c.Place = planner.Place{Nodes: 2, DistinctHosts: true} }),
		aCase("fine"),
	}
	var groups []*planner.LaunchGroup
	for _, c := range cases {
		groups = append(groups, aGroup(c.Key, []*planner.Case{c}))
	}
	doc := b.run(aPlan(cases, groups...), func(o *Options) { o.Nodes = []string{"n1", "n2"} })
	for key, want := range map[string]string{
		"ucx":  "fabric ucx on node n1: libucp.so.0: not found",
		"gpus": "GPUs on node n1",
		"two":  "nodes on distinct hosts (needed: 2, there: 1)",
	} {
		c := doc.Case(key)
		if c.Status != results.Error || !strings.Contains(c.Reason, want) || len(c.Launches) != 0 {
			t.Errorf("%s is %s: %s", key, c.Status, c.Reason)
		}
		if !strings.Contains(doc.Session.Reason, want) {
			t.Errorf("the session's reason lacks %q: %s", want, doc.Session.Reason)
		}
	}
	if c := doc.Case("fine"); c.Status != results.OK {
		t.Errorf("fine is %s: %s", c.Status, c.Reason)
	}
	if doc.Session.ExitCode != 6 {
		t.Errorf("exit code %d", doc.Session.ExitCode)
	}
	first := slices.IndexFunc(b.events, func(e event.Event) bool { return e.Type == event.LaunchStarted })
	if last := slices.IndexFunc(b.events[first:],
		func(e event.Event) bool { return e.Type == event.RequireMissing }); last >= 0 {
		t.Error("something missing was found only after the first launch")
	}
}

func TestProbeThatCrashesIsTheReason(t *testing.T) {
	b := newBench(t)
	conditional := aCase("c", func(c *planner.Case) { c.When = "any" }) // so that all fabrics are asked for
	doc := b.run(onePlan(conditional), func(o *Options) {
		o.ProbeCommand = []string{"sh", "-c", "echo loading >&2; kill -SEGV $$"}
		o.When = func(*planner.Case, []results.Node) (bool, string, error) { return true, "", nil }
	})
	c := doc.Case("c")
	if c.Status != results.Error || !strings.Contains(c.Reason,
		"the probe process failed: signal: segmentation fault") {
		t.Errorf("%s: %s", c.Status, c.Reason)
	}
}

// A check that fails on one of several nodes fails, and the node is named.
func TestCheckThatFailsOnOneNode(t *testing.T) {
	b := newBench(t)
	p := onePlan(aCase("c"))
	p.Checks = []planner.Check{{Name: "first", Command: []string{"mkdir", filepath.Join(t.TempDir(), "once")}}}
	doc := b.run(p, func(o *Options) { o.Nodes = []string{"n1", "n2"} })
	failed := ""
	for _, c := range doc.Checks {
		if c.Status != "ok" {
			failed += c.Node
		}
	}
	if len(doc.Checks) != 2 || len(failed) != 2 || doc.Session.ExitCode != 6 || b.launches() != "" ||
		!strings.Contains(doc.Session.Reason, "node "+failed) {
		t.Errorf("checks %+v, session %+v, launches %q", doc.Checks, doc.Session, b.launches())
	}
}
