package move

import "weir/results"

// Walk is how many bytes of a rank's memory, that of all its threads, are read or written
// before requests come back to the first place.
type Walk struct {
	Initiated uint64 `json:"initiated"` // of requests that the rank makes
	Served    uint64 `json:"served"`    // of those that others make to it
}

// WorkingSet is that of a launch: nodes has the node of each rank, and caches the size of
// each node's last-level cache, 0 where it is unknown. nil: no rank has said what it walks.
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
		if c := caches[nodes[i]]; i == 0 || c < w.Cache { // one that is unknown makes all unknown
			w.Cache = c
		}
	}
	return &w
}
