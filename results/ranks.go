package results

// RankShare is what one rank that initiates did in the timed part of a launch. Of
// workload traffic these are its bytes and times of all iterations that have stamps.
type RankShare struct {
	Rank      int     `json:"rank"`
	Bytes     uint64  `json:"bytes"`
	Seconds   float64 `json:"seconds" schema:"minimum=0"`
	Bandwidth float64 `json:"bandwidth" doc:"GB/s." schema:"minimum=0"`
}

// Pair is a cell of a traffic matrix: one rank's data for another in each iteration.
type Pair struct {
	From      int     `json:"from"` // rank
	To        int     `json:"to"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds" schema:"minimum=0"`   // mean, from the common start until it was delivered
	Bandwidth float64 `json:"bandwidth" schema:"minimum=0"` // GB/s
}

// Launches of more ranks than MostRanks have only the SlowestRanks slowest ones.
const (
	MostRanks    = 64
	SlowestRanks = 16
)
