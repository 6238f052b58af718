package sim

import "weir/workload"

// flow is the path from an initiator to its peer.
type flow struct{ initiator, peer int }

// patterns say who moves to whom.
var patterns = map[string]func(ranks int) []flow{"pairwise": pairwise}

// pairwise is rank i of the first half with rank i of the second.
func pairwise(ranks int) []flow {
	flows := make([]flow, ranks/2)
	for i := range flows {
		flows[i] = flow{i, i + ranks/2}
	}
	return flows
}

// path is what the model says of the requests of a case, without variation and
// at speed 1. Times are in seconds.
type path struct {
	interval float64 // between two completions
	latency  float64 // as it is stamped
	alone    float64 // of a request while nothing else is under way
	bytes    uint64  // that a completion counts for
}

func pathOf(o workload.TransferOptions) path {
	way, rate := o.Sim.Latency.Seconds(), float64(o.Sim.Bandwidth)
	if o.Mode == "pingpong" {
		message := way + float64(o.BlockSize)/rate
		return path{interval: 2 * message, latency: message, alone: message, bytes: 2 * uint64(o.BlockSize)}
	}
	if o.Op == "read" {
		way *= 2
	}
	request := float64(o.BlockSize) * float64(o.Batch)
	window := float64(min(o.InFlight, o.Iterations))
	interval := way/window + request/rate
	return path{interval: interval, latency: window * interval, alone: way + request/rate, bytes: uint64(o.BlockSize) * uint64(o.Batch)}
}

// untimed is how long the verification and warm-up before the timed part take.
func (p path) untimed(o workload.TransferOptions) float64 {
	passes := map[string]float64{"sample": 1, "full": float64(o.Iterations)}[o.Verify]
	return passes*p.alone + float64(o.Warmup)*p.interval
}

// stampedOneIn is the rate at which engine/native stamps requests of a size.
func stampedOneIn(bytes uint64) int {
	switch {
	case bytes >= 256<<10:
		return 1
	case bytes >= 64<<10:
		return 4
	case bytes >= 512:
		return 16
	}
	return 64
}
