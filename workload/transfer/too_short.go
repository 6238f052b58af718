package transfer

import (
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
)

// minPlausible is the plausible minimum of a latency, as a share of the time that a request's bytes take at the best
// rate. Timestamps around a copy of some nanoseconds overlap with it, and give less.
const minPlausible = 0.95

// TooShort compares latencies between two ranks of one thread each with the best probed rate.
func (behaviour) TooShort(metric string, o option.Values, value func(metric string) (float64, bool)) bool {
	if !strings.HasPrefix(metric, "latency.") || option.Text(o["ranks"]) != "2" ||
		option.Text(o["threads"]) != "1" || option.Text(o["bidirectional"]) != "false" {
		return false
	}
	block, err := quantity.ParseSize(option.Text(o["block_size"]))
	batch, counted := option.Number(o["batch"])
	latency, timed := value(metric)
	bandwidth, moved := value(workload.Bandwidth)
	share, probed := value("ceiling.best")
	if err != nil || !counted || !timed || !moved || !probed || bandwidth <= 0 || share <= 0 {
		return false
	}
	best := bandwidth * 1e9 / share // B/s
	return latency < minPlausible*float64(block)*batch/best
}
