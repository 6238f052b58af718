package reporters

import (
	"weir/results"
	"weir/workload"
)

// shortMark is behind a time that is shorter than the path was found to take for the bytes.
const shortMark = "↓"

// tooShort says whether a metric of a case is such a time, as its workload knows.
func tooShort(c *results.Case, metric string) bool {
	kind, known := workload.Lookup(c.Workload)
	if !known || kind.TooShort == nil {
		return false
	}
	return kind.TooShort(metric, c.Options, func(name string) (float64, bool) {
		m, ok := c.Metrics.Get(name)
		return m.Value, ok
	})
}
