package results

// Waits are how long ranks waited for each other in one operation.
type Waits struct {
	Operation string `json:"operation" doc:"What they did."`
	// Mean is indexed by the waiting rank, then by the rank waited for.
	Mean [][]float64 `json:"mean_s" doc:"Mean time in seconds from the start of the operation at a rank until all that a source sends in it had come: a list for each rank that waits, with each source."`
}
