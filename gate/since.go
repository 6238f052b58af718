package gate

import "github.com/weir-bench/weir/results"

// Since compares the asserted metrics with an earlier session, and lists other differences. Metrics that
// cannot be compared are left out.
func Since(earlier, now *results.Document) *results.Previous {
	out := &results.Previous{
		Session: earlier.Session.ID, Started: earlier.Session.Started, Status: earlier.Session.Status,
	}
	c, err := Compare(earlier, now, CompareOptions{})
	if err != nil { // no metric in common
		out.Differences = results.EnvironmentDifferences(earlier, now)
		return out
	}
	out.Differences = c.Differences
	for _, e := range c.Effects {
		if e.Base == nil || e.Change == nil {
			continue
		}
		out.Since = append(out.Since, &results.Since{
			Case: e.Case, Metric: e.Metric, Unit: e.Unit, Base: *e.Base, Change: *e.Change, Additive: e.Additive,
		})
	}
	return out
}
