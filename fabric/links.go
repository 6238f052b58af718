package fabric

import "slices"

// Names of links between ranks of one node, for host memory and for GPU memory.
var (
	hostLinks = []string{"host"}
	gpuLinks  = []string{"nvlink", "gpu"}
)

// LinkWithin returns the name of a site's link between ranks of one node; "" if the site has none.
func LinkWithin(links map[string]float64, gpu bool) string {
	names := hostLinks
	if gpu {
		names = gpuLinks
	}
	for _, name := range names {
		if _, has := links[name]; has {
			return name
		}
	}
	return ""
}

// WithinNodes reports whether a link of this name connects ranks of one node.
func WithinNodes(link string) bool {
	return slices.Contains(hostLinks, link) || slices.Contains(gpuLinks, link)
}
