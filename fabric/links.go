package fabric

import "slices"

// The names of links that ranks of one node have between them: of host memory, and of the memory of GPUs.
var (
	hostLinks = []string{"host"}
	gpuLinks  = []string{"nvlink", "gpu"}
)

// LinkWithin is the link of a site that ranks of one node have between their memory; "": it names none.
func LinkWithin(links map[string]float64, ofGPUs bool) string {
	names := hostLinks
	if ofGPUs {
		names = gpuLinks
	}
	for _, name := range names {
		if _, has := links[name]; has {
			return name
		}
	}
	return ""
}

// WithinNodes says whether a link of this name connects ranks of one node.
func WithinNodes(link string) bool {
	return slices.Contains(hostLinks, link) || slices.Contains(gpuLinks, link)
}
