package results

import "strconv"

// Site is the content of a site file about a cluster.
type Site struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Links are nominal bandwidths, which no measurement may exceed.
	Links map[string]float64 `json:"links,omitempty" doc:"Nominal bandwidth of each kind of link, in GB/s."`
}

// OfLink is the share of the nominal bandwidth that a case reached in its best launch.
type OfLink struct {
	Links   string  `json:"links" doc:"Which links of the site, and how many: the terms of the sum."`
	Nominal float64 `json:"nominal" doc:"What they carry together, in GB/s."`
	Share   float64 `json:"share" doc:"The bandwidth of the best launch as a share of that. More than 1 is an error."`
}

// Percent is the share in percent.
func (l *OfLink) Percent() string {
	return strconv.FormatFloat(l.Share*100, 'f', 1, 64) + "% of link"
}
