package results

// WorkingSet is the number of bytes that the requests of a launch access before repeating. Its relation to
// the caches decides whether memory was measured.
type WorkingSet struct {
	Initiator int64 `json:"initiator" doc:"At the end of one rank that initiates, the most of any."`
	Target    int64 `json:"target" doc:"At the end of one that is moved to or from, the most of any."`
	Node      int64 `json:"node" doc:"Of all ranks on one node, the most of any."`
	// Cache is the last-level cache, the smallest of the launch's nodes; 0: unknown.
	Cache int64 `json:"cache,omitzero" doc:"Bytes of the last-level cache, the smallest of the nodes: what is no larger is found in it. Absent: unknown."`
}

// Whether the working set fits a cache.
const (
	Hot  = "hot"
	Cold = "cold"
)

// State says whether the bytes of a node's ranks fit its last-level cache; "": its size is unknown.
// Several caches of a node count as one, because their assignment to ranks is unknown.
func (w *WorkingSet) State() string {
	switch {
	case w.Cache == 0:
		return ""
	case w.Node > w.Cache:
		return Cold
	}
	return Hot
}
