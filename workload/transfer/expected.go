package transfer

import "weir/workload/move"

// stamped is the metric that counts the requests whose latency is known.
const stamped = "requests.stamped"

// expected is how many requests of a launch are stamped at most, by the options of its case; 0: that
// depends on how fast it is. Where delivery is flushed it may be a quarter of them.
func expected(options map[string]any, _ string) int64 {
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
	every := int64(move.StampedOneIn(bytes, uint64(t.Iterations), false))
	each := (t.Iterations + every - 1) / every
	initiators := int64(0)
	for rank := range int(t.Ranks) {
		if t.Initiates(rank) {
			initiators++
		}
	}
	return each * initiators * max(1, t.Threads)
}
