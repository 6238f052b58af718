package transfer

import (
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// stamped is the metric that counts the requests with a measured latency.
const stamped = "requests.stamped"

// Expected returns the fewest and the most requests of a launch that are stamped, by the options of its case; 0: it
// depends on the speed. Fewer writes are stamped if the fabric flushes them, which only a launch tells.
func (behaviour) Expected(options map[string]any, _ string) (least, most int64) {
	t, err := workload.Decoded(Kind, options, Decode)
	if err != nil || t.Duration != 0 {
		return 0, 0
	}
	bytes := uint64(t.BlockSize) * uint64(t.Batch)
	if t.Mode == "pingpong" {
		bytes = 2 * uint64(t.BlockSize)
	}
	_, each := move.Stamped(bytes, uint64(t.Iterations), false)
	_, flushed := move.Stamped(bytes, uint64(t.Iterations), t.Mode != "pingpong" && t.Op == "write")
	initiators := int64(0)
	for rank := range int(t.Ranks) {
		if t.Initiates(rank) {
			initiators++
		}
	}
	parts := initiators * max(1, t.Threads)
	return int64(flushed) * parts, int64(each) * parts
}
