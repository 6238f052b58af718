package results

import (
	"slices"
	"strconv"
)

// Site is what a site file says of a cluster.
type Site struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Links are nominal: what no measurement may exceed.
	Links map[string]float64 `json:"links,omitempty" doc:"Nominal bandwidth of each kind of link, in GB/s."`
}

// OfLink is how much of the nominal bandwidth of links a case reached, in its best launch.
type OfLink struct {
	Links   string  `json:"links" doc:"Which links of the site, and how many: the terms of the sum."`
	Nominal float64 `json:"nominal" doc:"What they carry together, in GB/s."`
	Share   float64 `json:"share" doc:"The bandwidth of the best launch as a share of that. More than 1 is an error."`
}

// Percent is the share in percent.
func (l *OfLink) Percent() string {
	return strconv.FormatFloat(l.Share*100, 'f', 1, 64) + "% of link"
}

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
