package results

// RankShare is the data of one initiating rank in the timed part of a launch. For workload traffic it
// covers all stamped iterations.
type RankShare struct {
	Rank      int     `json:"rank"`
	Bytes     uint64  `json:"bytes"`
	Seconds   float64 `json:"seconds" schema:"minimum=0"`
	Bandwidth float64 `json:"bandwidth" doc:"GB/s." schema:"minimum=0"`
}

// Pair is a cell of a traffic matrix: the data of one rank for another in each iteration.
type Pair struct {
	From      int     `json:"from"` // rank
	To        int     `json:"to"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds" schema:"minimum=0"`   // mean, from the common start to delivery
	Bandwidth float64 `json:"bandwidth" schema:"minimum=0"` // GB/s
}

// Launches with more than MostRanks ranks list the SlowestRanks slowest.
const (
	MostRanks    = 64
	SlowestRanks = 16
)
