package run

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// mentioning is a plan with an assertion that mentions the baseline.
func mentioning(file string) *planner.Plan {
	metric := &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Baseline: true, Case: "a"}
	return &planner.Plan{
		Scenario: planner.Scenario{File: "x.yaml"}, Baseline: file,
		Cases: []*planner.Case{
			{Key: "a", Assertions: []assertion.Assertion{{Text: "bandwidth >= baseline.bandwidth", Subject: metric}}},
		},
	}
}

func TestBaselineIsReadBeforeAnythingRuns(t *testing.T) {
	dir := t.TempDir()
	doc := &results.Document{Schema: results.Schema, Session: results.Session{ID: "former"}}
	if err := doc.Write(filepath.Join(dir, "results.json")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		plan *planner.Plan
		flag string
		want string // of the error
	}{
		"none":          {mentioning(""), "", `the assertion "bandwidth >= baseline.bandwidth" needs a baseline; give one with --baseline FILE`},
		"missing":       {mentioning("nothing.json"), "", "nothing.json"},
		"the plan's":    {mentioning(dir), "", ""},
		"the flag's":    {mentioning("nothing.json"), filepath.Join(dir, "results.json"), ""},
		"not mentioned": {&planner.Plan{}, filepath.Join(dir, "results.json"), ""},
		"not readable":  {&planner.Plan{}, "nothing.json", "--baseline: "},
	} {
		f := flags{baseline: test.flag}
		var notes strings.Builder
		got, err := f.baselines([]*planner.Plan{test.plan}, &notes)
		if told := strings.Contains(notes.String(),
			"no assertion mentions the baseline"); told != (name == "not mentioned") {
			t.Errorf("%s: notes %q", name, notes.String())
		}
		switch {
		case test.want != "":
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v", name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case name != "not mentioned" && got[0].doc.Session.ID != "former":
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A session that is inconclusive for its baseline alone may replace that; one that is open for another reason may not.
func TestOpenByBaseline(t *testing.T) {
	verdict := func(v results.Verdict, kinds ...results.ReasonKind) *results.AssertionVerdict {
		a := &results.AssertionVerdict{Verdict: v}
		for _, k := range kinds {
			a.Reasons = append(a.Reasons, results.Because(k))
		}
		return a
	}
	unusable := verdict(results.InconclusiveVerdict, results.BaselineDisturbed)
	for _, test := range []struct {
		code int
		all  []*results.AssertionVerdict
		want bool
	}{
		{gate.ExitInconclusive, []*results.AssertionVerdict{unusable, verdict(results.Pass)}, true},
		{gate.ExitInconclusive, []*results.AssertionVerdict{
			unusable, verdict(results.InconclusiveVerdict, results.CrossesBound),
		}, false},
		{gate.ExitFailed, []*results.AssertionVerdict{unusable, verdict(results.Fail)}, false},
	} {
		doc := &results.Document{Session: results.Session{ExitCode: test.code}, Assertions: test.all}
		if got := openByBaseline(doc); got != test.want {
			t.Errorf("exit code %d: %t", test.code, got)
		}
	}
}
