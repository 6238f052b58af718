package executor

import (
	"slices"

	"weir/fabric"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// named are the transports of a case where those that a library does not name, because another
// library beneath it has them, are named by what that one says in the ranks' logs. What it says
// nothing of stays as it is.
func (l *launched) named(all []results.Transport, c *planner.Case) []results.Transport {
	if len(l.beneath) == 0 {
		return all
	}
	read := workload.Text(c.Options["op"]) == "read"
	var out []results.Transport
	for _, t := range all {
		if !t.Opaque {
			out = append(out, t)
			continue
		}
		for _, rank := range t.Ranks {
			found := fabric.CarriedBeneath(l.beneath[rank], read, requestSize(c), rank)
			if len(found) == 0 {
				t := t
				t.Ranks = []int{rank}
				found = []results.Transport{t}
			}
			out = append(out, found...)
		}
	}
	return results.MergeTransports(out)
}

// requestSize is how large each request of a case is; 0 where they differ, or may be put together.
func requestSize(c *planner.Case) uint64 {
	if merge, _ := c.Options["nixl_merge"].(bool); merge {
		return 0
	}
	matrices := []string{"matrix", "generate", "patterns", "metadata_file"}
	if slices.ContainsFunc(matrices, func(name string) bool { return c.Options[name] != nil }) {
		return 0
	}
	size, ok := workload.Number(c.Options["block_size"])
	if !ok || size <= 0 {
		return 0
	}
	return uint64(size)
}
