package transfer

import (
	"strings"

	"weir/quantity"
	"weir/workload"
)

// leastBelieved is the share of the time that the bytes of a request take at the best rate below
// which a latency is no fact: stamps around a copy of some nanoseconds overlap with it.
const leastBelieved = 0.95

// tooShort compares latencies of two ranks of one thread each with what the path was found to carry.
func tooShort(metric string, o workload.Values, value func(metric string) (float64, bool)) bool {
	if !strings.HasPrefix(metric, "latency.") || workload.Text(o["ranks"]) != "2" ||
		workload.Text(o["threads"]) != "1" || workload.Text(o["bidirectional"]) != "false" {
		return false
	}
	block, err := quantity.ParseSize(workload.Text(o["block_size"]))
	batch, counted := workload.Number(o["batch"])
	latency, timed := value(metric)
	bandwidth, moved := value(workload.Bandwidth)
	share, probed := value("ceiling.best")
	if err != nil || !counted || !timed || !moved || !probed || bandwidth <= 0 || share <= 0 {
		return false
	}
	best := bandwidth * 1e9 / share // B/s
	return latency < leastBelieved*float64(block)*batch/best
}
