package gate

import (
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Since compares the asserted metrics with an earlier session, and lists other differences. Metrics that
// cannot be compared are listed with the reason.
func Since(earlier, now *results.Document) *results.Previous {
	out := &results.Previous{
		Session: earlier.Session.ID, Started: earlier.Session.Started, Status: earlier.Session.Status,
	}
	c, err := Compare(earlier, now, CompareOptions{Noise: keptAsKnown(now.Baseline)})
	if err != nil { // no metric in common
		out.Differences = results.EnvironmentDifferences(earlier, now)
		return out
	}
	out.Differences = c.Differences
	metrics, asserted := workload.DefinitionsOf(now, earlier), assertedMetrics(now)
	not := func(key, metric, reason string) {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(asserted[key]))) {
			m, _ := metrics.Metric(now.Case(key), name)
			if m.Better != workload.Neither && (metric == "" || metric == name) {
				out.NotCompared = append(out.NotCompared, results.NotCompared{Case: key, Metric: name, Reason: reason})
			}
		}
	}
	for _, e := range c.Effects {
		if e.Base == nil || e.Change == nil {
			not(e.Case, e.Metric, whyNotSince(e))
			continue
		}
		if quantity.Endless(e.Base.Value) || quantity.Endless(e.Change.Value) { // failed requests have no end
			not(e.Case, e.Metric, "it has no end in one of the sessions")
			continue
		}
		out.Since = append(out.Since, &results.Since{
			Case: e.Case, Metric: e.Metric, Unit: e.Unit, Base: *e.Base, Change: *e.Change, Additive: e.Additive,
		})
	}
	for _, l := range c.OnlyNew {
		not(l.Case, "", "not measured in the earlier session")
	}
	return out
}

// whyNotSince says in short why an effect has no change: readers group metrics by it.
func whyNotSince(e *results.Effect) string {
	if len(e.Reasons) == 0 {
		return "it has no change that can be computed"
	}
	what := "unusable"
	if slices.ContainsFunc(e.Reasons, func(r results.Reason) bool {
		return slices.Contains([]results.ReasonKind{results.HostBusy, results.LimitLow, results.Discarded}, r.Kind)
	}) {
		what = "no undisturbed launch"
	}
	switch e.Reasons[0].Place.Side {
	case "base":
		return what + " in the earlier session"
	case "new":
		return what + " in this session"
	}
	return "it has no change that can be computed"
}

// keptAsKnown returns how the sessions vary that are kept beside the baseline, as noise that a comparison allows for.
func keptAsKnown(b *results.Baseline) []results.CaseNoise {
	if b == nil {
		return nil
	}
	out := slices.Clone(b.Sessions)
	for i, n := range out {
		out[i].Metrics = slices.Clone(n.Metrics)
		for j := range out[i].Metrics {
			out[i].Metrics[j].KnowsSessions = true
		}
	}
	return out
}
