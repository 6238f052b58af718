package results

// WorkingSet is how many bytes the requests of a launch go over before they come back to
// the first. What a cache holds of them decides whether memory was measured.
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

// State says whether what the ranks of a node go over fits a last-level cache of it, and
// so is found there; "": its size is unknown. Caches of a node that has several count
// as one, because who uses which is not known.
func (w *WorkingSet) State() string {
	switch {
	case w.Cache == 0:
		return ""
	case w.Node > w.Cache:
		return Cold
	}
	return Hot
}
