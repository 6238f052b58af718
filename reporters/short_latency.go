package reporters

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// shortMark follows a time that is shorter than the path needs for the bytes.
const shortMark = "↓"

// tooShort reports whether a metric of a case is such a time, by its workload.
func tooShort(c *results.Case, metric string) bool {
	b, ok := workload.As[workload.PathTimer](c.Workload)
	return ok && b.TooShort(metric, c.Options, func(name string) (float64, bool) {
		m, ok := c.Metrics.Get(name)
		return m.Value, ok
	})
}
