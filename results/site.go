package results

// Site is what a site file says of a cluster.
type Site struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Links are nominal: what no measurement may exceed.
	Links map[string]float64 `json:"links,omitempty" doc:"Nominal bandwidth of each kind of link, in GB/s."`
}
