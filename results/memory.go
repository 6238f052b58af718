package results

import "slices"

// MemoryNode is a NUMA node that ranks of a launch had their buffers on, read back from
// the kernel where the scenario asks for a node.
type MemoryNode struct {
	Node  int   `json:"node"`  // as the kernel of the rank's host numbers it
	Ranks []int `json:"ranks"` // ascending; one whose threads are on several nodes stands in several
}

// MemoryNodes are those of ranks: the nodes of each, by rank.
func MemoryNodes(ofRanks [][]int) []MemoryNode {
	var out []MemoryNode
	for rank, nodes := range ofRanks {
		for _, node := range nodes {
			i := slices.IndexFunc(out, func(m MemoryNode) bool { return m.Node == node })
			if i < 0 {
				i, out = len(out), append(out, MemoryNode{Node: node})
			}
			if !slices.Contains(out[i].Ranks, rank) {
				out[i].Ranks = append(out[i].Ranks, rank)
			}
		}
	}
	slices.SortFunc(out, func(a, b MemoryNode) int { return a.Node - b.Node })
	return out
}
