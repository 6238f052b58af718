package transfer

import "github.com/weir-bench/weir/workload/move"

// stamped is the metric that counts the requests with a measured latency.
const stamped = "requests.stamped"

// Expected returns the most requests of a launch that are stamped, by the options of its case; 0: it depends on the
// speed. If delivery is flushed it may be a quarter of that.
func (behaviour) Expected(options map[string]any, _ string) int64 {
	values, err := Kind.Normalize(options)
	if err != nil {
		return 0
	}
	t, err := Decode(values)
	if err != nil || t.Duration != 0 {
		return 0
	}
	bytes := uint64(t.BlockSize) * uint64(t.Batch)
	if t.Mode == "pingpong" {
		bytes = 2 * uint64(t.BlockSize)
	}
	_, each := move.Stamped(bytes, uint64(t.Iterations), false)
	initiators := int64(0)
	for rank := range int(t.Ranks) {
		if t.Initiates(rank) {
			initiators++
		}
	}
	return int64(each) * initiators * max(1, t.Threads)
}
