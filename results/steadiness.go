package results

// WarmUp says that the first pieces of launches differ from the rest: the warm-up was too short.
type WarmUp struct {
	Pieces int     `json:"pieces" doc:"How many pieces at the start of a launch differ from the rest." schema:"minimum=1"`
	Of     int     `json:"of" doc:"Pieces of a launch." schema:"minimum=2"`
	Ratio  float64 `json:"ratio" doc:"Their speed (bandwidth, or 1 / latency of a load) over that of the rest, over all launches."`
	Moves  float64 `json:"moves" doc:"By which share they move the bandwidth, or the latency, of a launch."`
}

// Variance is the variance of a metric at one level.
type Variance struct {
	Of string  `json:"of" doc:"pieces: parts of a launch. launches: of a session, on one set of hosts. hosts, sessions: what they add." schema:"enum=pieces|launches|hosts|sessions"`
	CV float64 `json:"cv" doc:"Standard deviation of the logarithm." schema:"minimum=0"`
	DF float64 `json:"df,omitzero" doc:"Degrees of freedom; absent: it is taken as exact." schema:"minimum=0"`
}
