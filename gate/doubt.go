package gate

import (
	"slices"

	"weir/assertion"
	"weir/results"
	"weir/workload"
)

// SessionsAlone says why an assertion against a baseline cannot be decided by any number of launches, and what to
// change, if what it measures is as the baseline has it: what is known of how sessions differ alone makes an
// interval that crosses the bound. "" where it does not, or nothing is known. The cases are all that the
// assertion is of; own is the one that it belongs to, nil of one over several.
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
			values[leaf.Metric] = 1 // as the baseline's: launches that do not vary
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
	o := eval.judge(matter{own, &results.AssertionVerdict{Assertion: a, Looks: looks}})
	if o.verdict != results.InconclusiveVerdict {
		return "", ""
	}
	return o.obstacle.why, o.obstacle.change
}

// subjects are the expressions that an assertion is about.
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

// ofSessions is what is known of sessions, without the noise of launches.
func ofSessions(list []assertion.Noise) []assertion.Noise {
	out := slices.Clone(list)
	for i := range out {
		out[i].Launch, out[i].LaunchDF = 0, 0
	}
	return out
}
