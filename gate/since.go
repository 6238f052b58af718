package gate

import "weir/results"

// Since says what became of the metrics that assertions are about since an earlier
// session, and what else is not the same. What cannot be compared is left out.
func Since(earlier, now *results.Document) *results.Previous {
	out := &results.Previous{
		Session: earlier.Session.ID, Started: earlier.Session.Started, Status: earlier.Session.Status,
	}
	c, err := Compare(earlier, now, CompareOptions{})
	if err != nil { // there is nothing that both have measured
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
