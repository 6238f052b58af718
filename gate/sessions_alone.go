package gate

import (
	"slices"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// SessionsAlone says why no number of launches can decide an assertion against a baseline, and what to
// change, given that the values equal the baseline's: the known variance between sessions alone makes the
// interval cross the bound. "" if it does not, or if the variance is unknown. cases are all cases of the
// assertion; own is the case it belongs to, nil for an assertion over several.
func SessionsAlone(
	a assertion.Assertion, own *results.Case, cases []*results.Case, looks []int, noise []results.CaseNoise,
) (why, change string) {
	if len(looks) == 0 || !ofBaseline(a) {
		return "", ""
	}
	const here = "plan"
	doc := &results.Document{
		Schema: results.Schema, Environment: results.Environment{Fingerprint: here},
		Baseline: &results.Baseline{Fingerprint: here},
	}
	a.Reference, a.XFail, a.Noise = nil, nil, ofSessions(a.Noise)
	for _, n := range noise {
		doc.Noise = append(doc.Noise, results.CaseNoise{Case: n.Case, Metrics: ofSessions(n.Metrics)})
	}
	values := map[string]float64{}
	for _, e := range subjects(a) {
		for _, leaf := range e.Leaves() {
			values[leaf.Metric] = 1 // as the baseline: launches do not vary
		}
	}
	for _, c := range cases {
		alike := &results.Case{Key: c.Key, Run: c.Run, Status: results.OK, Axes: c.Axes}
		stored := results.BaselineCase{Key: c.Key}
		for i := range slices.Max(looks) {
			metrics := results.ValuesOf(values)
			stored.Launches = append(stored.Launches, metrics)
			alike.Launches = append(alike.Launches,
				&results.Launch{Index: i, Status: results.OK, Verified: true, Metrics: metrics})
		}
		if own != nil && own.Key == c.Key {
			own = alike
		}
		doc.Cases, doc.Baseline.Cases = append(doc.Cases, alike), append(doc.Baseline.Cases, stored)
	}
	eval := newEvaluator(doc)
	eval.metrics = workload.DefinitionsOf(&results.Document{Cases: cases})
	o := eval.judge(item{own, &results.AssertionVerdict{Assertion: a, Looks: looks}})
	if o.verdict != results.InconclusiveVerdict {
		return "", ""
	}
	return wording.Message(o.obstacle.why), o.obstacle.change
}

// subjects are the expressions of an assertion.
func subjects(a assertion.Assertion) []*assertion.Expr {
	out := []*assertion.Expr{a.Subject}
	for _, p := range a.Parts {
		out = append(out, p.Subject)
	}
	return slices.DeleteFunc(out, func(e *assertion.Expr) bool { return e == nil })
}

func ofBaseline(a assertion.Assertion) bool {
	return a.Trend == nil && slices.ContainsFunc(subjects(a), func(e *assertion.Expr) bool {
		return slices.ContainsFunc(e.Leaves(), func(leaf *assertion.Expr) bool { return leaf.Baseline })
	})
}

// ofSessions returns the known variance between sessions, without that of launches.
func ofSessions(list []assertion.Noise) []assertion.Noise {
	out := slices.Clone(list)
	for i := range out {
		out[i].Launch, out[i].LaunchDF = 0, 0
	}
	return out
}
