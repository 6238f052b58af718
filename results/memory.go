package results

import (
	"slices"

	"github.com/weir-bench/weir/internal/ordered"
)

// MemoryNode is a NUMA node with buffers of a launch's ranks, read back from the kernel if the scenario
// asks for a node.
type MemoryNode struct {
	Node  int   `json:"node"`  // numbered by the rank's host
	Ranks []int `json:"ranks"` // ascending; a rank with threads on several nodes is in each
}

// MemoryNodes returns the nodes of ranks, given the nodes of each.
func MemoryNodes(ofRanks [][]int) []MemoryNode {
	var out []MemoryNode
	for rank, nodes := range ofRanks {
		for _, node := range nodes {
			i := slices.IndexFunc(out, func(m MemoryNode) bool { return m.Node == node })
			if i < 0 {
				i, out = len(out), append(out, MemoryNode{Node: node})
			}
			out[i].Ranks = ordered.Append(out[i].Ranks, rank)
		}
	}
	slices.SortFunc(out, func(a, b MemoryNode) int { return a.Node - b.Node })
	return out
}
