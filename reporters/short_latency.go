package reporters

import (
	"strings"

	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// shortMark is behind a latency that is shorter than the path was found to take for its bytes.
const shortMark = "↓"

// leastBelieved is the share of that time below which it is said.
const leastBelieved = 0.95

// tooShort says whether a latency is shorter than the bytes of a request take at the best rate that
// the path of the two ranks was found to carry. Stamps around a copy of some nanoseconds overlap
// with it, so that such a latency is no fact; the bandwidth of the same requests is.
func tooShort(c *results.Case, metric string) bool {
	if !strings.HasPrefix(metric, "latency.") || workload.Text(c.Options["ranks"]) != "2" ||
		workload.Text(c.Options["threads"]) != "1" || workload.Text(c.Options["bidirectional"]) != "false" {
		return false
	}
	block, err := quantity.ParseSize(workload.Text(c.Options["block_size"]))
	batch, counted := workload.Number(c.Options["batch"])
	latency, timed := c.Metrics.Get(metric)
	bandwidth, moved := c.Metrics.Get(workload.Bandwidth)
	share, probed := c.Metrics.Get("ceiling.best")
	if err != nil || !counted || !timed || !moved || !probed || bandwidth.Value <= 0 || share.Value <= 0 {
		return false
	}
	best := bandwidth.Value * 1e9 / share.Value // B/s
	return latency.Value < leastBelieved*float64(block)*batch/best
}
