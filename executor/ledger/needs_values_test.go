package ledger

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	_ "github.com/weir-bench/weir/workload/kinds"
)

func launchOf(bandwidth float64, void string) *results.Launch {
	return &results.Launch{
		Status: results.OK, Discarded: void, Verified: true,
		Metrics: results.ValuesOf(map[string]float64{"bandwidth": bandwidth}),
	}
}

func borneLaunch(bandwidth float64) *results.Launch {
	l := launchOf(bandwidth, "")
	l.Disturbance = &results.Disturbance{Cause: results.Waited, Share: 0.5, Text: "load 9", Tolerated: true}
	return l
}

// A value of a run is used only if it was measured and counts, and so is a need.
func TestValuesOfRunsThatDoNotCount(t *testing.T) {
	for name, test := range map[string]struct {
		source        results.Case
		value, needed string // why what uses it does not run; "": it does
	}{
		"measured": {results.Case{Status: results.OK, Launches: []*results.Launch{launchOf(4, "")}}, "", ""},
		"one launch is discarded": {
			results.Case{Status: results.OK, Launches: []*results.Launch{launchOf(1, "load"), launchOf(4, "")}}, "", "",
		},
		"all launches are discarded": {
			results.Case{Status: results.OK, Launches: []*results.Launch{launchOf(3, "load 9"), launchOf(3, "load 9")}},
			"no usable launch: 2 of 2 launches discarded (last: load 9)",
			"no usable launch: 2 of 2 launches discarded (last: load 9)",
		},
		"all count for their own gates only": {
			results.Case{Status: results.OK, Launches: []*results.Launch{borneLaunch(3), borneLaunch(3)}},
			"no usable launch: 2 of 2 launches discarded (last: disturbed; it counts " +
				"for the bounds of its own session only: load 9)", "",
		},
		"an error after a launch": {
			results.Case{Status: results.Error, Reason: "launch 2: killed", Launches: []*results.Launch{launchOf(4,
				"")}},
			"it failed: launch 2: killed", "which failed: launch 2: killed",
		},
		"not verified": {
			results.Case{Status: results.OK, Invalid: "it was not verified", Launches: []*results.Launch{launchOf(4,
				"")}},
			"it was not verified", "it was not verified",
		},
		"an expected failure": {
			results.Case{
				Status: results.OK, Launches: []*results.Launch{launchOf(4, "")},
				MayFail: &results.MayFail{Verdict: results.XFail, Message: "expected to fail"},
			},
			"expected to fail", "which failed: expected to fail",
		},
		"skipped": {
			results.Case{Status: results.Skipped, Reason: "no GPU"}, "it did not run: no GPU",
			"which was skipped: no GPU",
		},
		"made again": {
			results.Case{Status: results.OK, Launches: []*results.Launch{{Status: results.Error, Retried: true}}},
			"no usable launch of a has measured bandwidth", "",
		},
		"not the metric": {
			results.Case{Status: results.OK, Launches: []*results.Launch{{Status: results.OK, Verified: true}}},
			"no usable launch of a has measured bandwidth", "",
		},
	} {
		uses := func(on string, c planner.Case) *planner.Case {
			c.Workload, c.Run, c.Needs, c.NeedsOn = "command", "b", []string{"a"}, map[string]string{"a": on}
			return &c
		}
		const value = `${2 * run("a").bandwidth}`
		cases := map[string]*planner.Case{
			"env": uses("always", planner.Case{
				Key: "env", Env: map[string]string{"X": value}, EnvLater: []string{"X"},
			}),
			"text": uses("always", planner.Case{Key: "text", Options: map[string]any{
				"roles": `{"it": {"command": ["${2 * run(\"a\").bandwidth}"]}}`,
			}}),
			"need":   uses("success", planner.Case{Key: "need"}),
			"always": uses("always", planner.Case{Key: "always"}),
		}
		source := test.source
		source.Key, source.Run = "a", "a"
		l := &Ledger{Plan: &planner.Plan{Cases: []*planner.Case{{Key: "a", Run: "a"}}}, Doc: &results.Document{
			Cases: []*results.Case{&source},
		}}
		g := &Group{LaunchGroup: &planner.LaunchGroup{}}
		for key, c := range cases {
			l.Plan.Cases = append(l.Plan.Cases, c)
			l.Doc.Cases = append(l.Doc.Cases, &results.Case{Key: key, Status: results.Skipped, Reason: notRun})
			g.Wanted = append(g.Wanted, c)
		}
		l.index, l.past = l.newIndex(), &pastSessions{}
		l.admitGroup(g)
		for key, want := range map[string]string{
			"env": test.value, "text": test.value, "need": test.needed, "always": "",
		} {
			c := l.Case(key)
			if want == "" && c.Reason != notRun || !strings.HasSuffix(c.Reason, want) {
				t.Errorf("%s: %s: %q, want %q", name, key, c.Reason, want)
			}
			if left := want != "" && test.source.Status == results.Skipped; c.NotReached() == left {
				t.Errorf("%s: %s: %q: left out on purpose: %v", name, key, c.Reason, left)
			}
		}
	}
}

// Whether a case failed is unknown if all of its launches are discarded.
func TestNeedToFailOfWhatWasNotMeasured(t *testing.T) {
	void := &results.Case{Key: "a", Status: results.OK, Launches: []*results.Launch{launchOf(3, "load 9")}}
	l := &Ledger{Plan: &planner.Plan{}, Doc: &results.Document{Cases: []*results.Case{void}}}
	l.index = l.newIndex()
	c := &planner.Case{Needs: []string{"a"}, NeedsOn: map[string]string{"a": "failed"}}
	if got := l.unmetNeed(c); !strings.HasPrefix(got, "not run: needs a to fail, which is unknown: ") {
		t.Errorf("unmet need %q", got)
	}
	failed := &results.AssertionVerdict{Verdict: results.Fail, Observed: &results.Observed{}}
	failed.Assertion = assertion.Assertion{Cases: []string{"a"}}
	void.Assertions = []*results.AssertionVerdict{failed} // judged by launches that are void
	if got := l.unmetNeed(c); got != "" {
		t.Errorf("a case that failed: %q", got)
	}
}

// A baseline says of its disturbed launches only how many there were.
func TestBaselineCountsDisturbedLaunches(t *testing.T) {
	c := &results.Case{Status: results.OK, Launches: []*results.Launch{borneLaunch(3), borneLaunch(4)}}
	if b := baselineCase(c); len(b.Launches) != 0 || b.Disturbed != 2 {
		t.Errorf("%+v", b)
	}
}
