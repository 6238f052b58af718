package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
)

const busyHost = "rank 0 on n1 was runnable but not scheduled 51 % of the time, load 4"

// disturb discards launches of a case: each of the two ranks lost a share of its processor.
func disturb(c *results.Case, lost float64, indices ...int) {
	for _, i := range indices {
		rank := results.RankProcessor{Ran: 1 - lost, Waited: lost}
		c.Launches[i].Discarded = busyHost
		c.Launches[i].Processors = &results.Processors{Ranks: []results.RankProcessor{rank, rank}}
	}
}

// Void launches decide nothing but what their disturbance cannot have made so.
func TestVoidLaunches(t *testing.T) {
	for name, test := range map[string]struct {
		values []float64
		void   []int
		lost   float64
		most   *float64
		want   results.Verdict
		text   string
	}{
		"none":       {[]float64{1, 1.01, 0.99}, nil, 0, nil, results.Pass, ""},
		"made again": {[]float64{1, 0.1, 1.01, 0.99}, []int{1}, 0.5, nil, results.Pass, ""},
		"all would fail": {[]float64{0.1, 0.1, 0.1}, []int{0, 1, 2}, 0.45, nil, results.InconclusiveVerdict,
			"host-too-busy discarded=3 launches=3"},
		"all fail by far": {[]float64{0.01, 0.01, 0.01}, []int{0, 1, 2}, 0.25, nil, results.Fail,
			"fails-with-discarded discarded=3"},
		"by far, with no processor left": {[]float64{0.01, 0.01, 0.01}, []int{0, 1, 2}, 0.5, nil,
			results.InconclusiveVerdict, "nothing-counts"},
		"all pass all the same": {[]float64{1, 1, 1}, []int{0, 1, 2}, 0.5, nil, results.Pass,
			"passes-with-discarded discarded=3"},
		"one is left, and all pass": {[]float64{50, 48, 36, 52}, []int{0, 2, 3}, 0.5, nil, results.Pass,
			"passes-with-discarded discarded=3"},
		"all pass a bound on both sides": {[]float64{1, 1, 1}, []int{0, 1, 2}, 0.5, p(1.1), results.InconclusiveVerdict,
			"nothing-counts"},
		"too few are left": {[]float64{0.1, 0.1, 1, 0.1}, []int{0, 1, 3}, 0.5, nil, results.InconclusiveVerdict,
			"host-too-busy discarded=3 launches=4"},
		"a fault that is no load": {[]float64{0.1, 0.5, 0.51, 0.5}, []int{0}, 0.5, nil, results.Fail,
			"discarded discarded=1 launches=4"},
	} {
		t.Run(name, func(t *testing.T) {
			c := caseOf("a", test.values...)
			c.Made = len(c.Launches)
			disturb(c, test.lost, test.void...)
			a := band(p(0.9), test.most, []int{3})
			doc := judged(c, a)
			if a.Verdict != test.want || !has(a.Reasons, test.text) {
				t.Errorf("%s: %s, want %s with %q", a.Verdict, a.Message, test.want, test.text)
			}
			Judge(doc)
			if a.Verdict != test.want {
				t.Errorf("judged again: %s", a.Verdict)
			}
		})
	}
}

// A case of which no launch counts is inconclusive, and its session with it, whether anything is asserted
// of it or not; a verdict that its void launches allow is one.
func TestCasesOfOnlyVoidLaunches(t *testing.T) {
	warning := band(p(0.9), p(1.1), []int{3})
	warning.Severity = assertion.Warn
	for name, test := range map[string]struct {
		void []int
		a    *results.AssertionVerdict
		exit int
		want map[string]int
	}{
		"nothing asserted":  {[]int{0, 1, 2}, nil, ExitInconclusive, map[string]int{"inconclusive": 1}},
		"only a warning":    {[]int{0, 1, 2}, warning, ExitInconclusive, map[string]int{"inconclusive": 1}},
		"a bound that held": {[]int{0, 1, 2}, band(p(0.9), nil, []int{3}), ExitPassed, map[string]int{"ok": 1}},
		"one counts":        {[]int{0, 1}, nil, ExitPassed, map[string]int{"ok": 1}},
	} {
		c := caseOf("a", 1, 1, 1)
		disturb(c, 0.5, test.void...)
		if test.a != nil {
			c.Assertions = []*results.AssertionVerdict{test.a}
		}
		doc := docOf(c)
		for range 2 {
			Judge(doc)
			if doc.Session.ExitCode != test.exit || doc.Session.Status != status(test.exit) {
				t.Errorf("%s: exit code %d, %s", name, doc.Session.ExitCode, doc.Session.Status)
			}
			for what, n := range test.want {
				if doc.Summary.Cases[what] != n {
					t.Errorf("%s: %v", name, doc.Summary.Cases)
				}
			}
		}
	}
}

// Disturbed launches count where they change nothing of what is asserted. However much of its processors a launch
// lost, and whatever that cost, the promise at the bound and beyond it stays.
func TestDisturbedLaunchesThatCountKeepTheErrors(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 200, 2000)
	define := func(name string) (results.Metric, bool) { return results.Metric{Name: name}, true }
	for _, c := range []struct {
		truth, lost, cost float64 // truth: the undisturbed value, of a bound of 1; cost: the power of 1 - lost
		pass, fail        float64 // percent of wrong verdicts at most; 0: it is the right one
	}{
		{1, 0.1, 0, 2.5, 2.5}, {1, 0.1, 1, 2.5, 2.5}, {1, 0.1, 2, 2.5, 2.5}, {1, 0.5, 1, 2.5, 2.5},
		{1, 0.5, 2, 2.5, 2.5}, {0.95, 0.3, 1, 0.5, 0}, {0.9, 0.5, 0, 0.5, 0}, {1.3, 0.3, 1, 0, 0.5},
		{1.3, 0.5, 2, 0, 0.5}, {2, 0.5, 2, 0, 0.5}, {5, 0.6, 2, 0, 0.5},
	} {
		passed, failed := 0, 0
		for seed := range uint64(n) {
			r := rand.New(rand.NewPCG(seed, 31))
			one := 1.
			a := band(&one, nil, looks)
			k := caseOf("c")
			k.Assertions = []*results.AssertionVerdict{a}
			doc := docOf(k)
			for made := 0; made < 24 && a.Verdict != results.Pass && a.Verdict != results.Fail; made++ {
				v, disturbed := c.truth*math.Exp(0.03*r.NormFloat64()), r.IntN(2) == 0
				if disturbed {
					v *= math.Pow(1-c.lost, c.cost)
				}
				l := caseOf("c", v).Launches[0]
				l.Index = made
				if disturbed && !k.Tolerates(l, c.lost, nil, define) {
					l.Discarded = busyHost
				}
				k.Launches = append(k.Launches, l)
				if l.Discarded == "" {
					Judge(doc)
				}
			}
			switch a.Verdict {
			case results.Pass:
				passed++
			case results.Fail:
				failed++
			}
		}
		name := fmt.Sprintf("truth %g, %g lost to the power of %g", c.truth, c.lost, c.cost)
		held(t, name+": pass", 100*float64(passed)/float64(n), c.pass, n)
		held(t, name+": fail", 100*float64(failed)/float64(n), c.fail, n)
	}
}
