package move

import "github.com/weir-bench/weir/results"

// Walk is the number of bytes of a rank's memory, over all its threads, that requests cover before they return to the
// first place.
type Walk struct {
	Initiated uint64 `json:"initiated"` // of requests that the rank initiates
	Served    uint64 `json:"served"`    // of requests of other ranks to it
}

// WorkingSet returns the working set of a launch: nodes has the node of each rank, and caches the size of each node's
// last-level cache (0: unknown). nil: no rank has a Walk.
func WorkingSet(ranks []*Part, nodes []string, caches map[string]int64) *results.WorkingSet {
	var w results.WorkingSet
	on := map[string]int64{}
	for i, r := range ranks {
		if r.Walk == nil || i >= len(nodes) {
			return nil
		}
		w.Initiator = max(w.Initiator, int64(r.Walk.Initiated))
		w.Target = max(w.Target, int64(r.Walk.Served))
		on[nodes[i]] += int64(r.Walk.Initiated + r.Walk.Served)
		w.Node = max(w.Node, on[nodes[i]])
		if c := caches[nodes[i]]; i == 0 || c < w.Cache { // one unknown size makes all unknown
			w.Cache = c
		}
	}
	return &w
}
