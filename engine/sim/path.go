package sim

import (
	"math"

	"weir/quantity"
	"weir/workload/move"
)

// path is what the model says of the requests of a case, without variation and
// at speed 1. Times are in seconds.
type path struct {
	interval float64 // between two completions
	latency  float64 // as it is stamped
	alone    float64 // of a request while nothing else is under way
	bytes    uint64  // that a completion counts for
}

// path is that of the case's first initiator, or what stands for it in an exchange of all ranks.
func (c task) path() path {
	if c.ep != nil {
		return c.ep.path(c.Options.Sim)
	}
	return pathOf(c.Options, first(c.Options))
}

// pathOf is the path of an initiator to its targets.
func pathOf(o move.Spec, initiator int) path {
	way, rate := o.Sim.Latency.Seconds(), rateOf(o, initiator)
	if o.Mode == "pingpong" {
		threads, turn := float64(o.Threads), float64(o.BlockSize)/rate
		return path{
			interval: 2 * (way/threads + turn), latency: way + threads*turn, alone: way + turn,
			bytes: 2 * uint64(o.BlockSize),
		}
	}
	if o.Op == "read" {
		way *= 2
	}
	request := float64(o.BlockSize) * float64(o.Batch)
	window := float64(o.InFlight)
	if o.Duration == 0 {
		window = float64(min(o.InFlight, o.Iterations))
	}
	window *= float64(o.Threads)
	interval := way/window + request/rate
	return path{
		interval: interval, latency: window * interval, alone: way + request/rate,
		bytes: uint64(o.BlockSize) * uint64(o.Batch),
	}
}

// rateOf is the bandwidth that an initiator has: targets share theirs among those
// who initiate to them.
func rateOf(o move.Spec, initiator int) float64 {
	return quantity.Round(float64(o.Sim.Bandwidth) * o.Share(initiator))
}

// iterations are those of all threads in the timed part, which with a duration the
// speed decides: as many as begin before it is over, but of each thread one to each
// target.
func (p path) iterations(o move.Spec, speed float64) float64 {
	if o.Duration == 0 {
		return float64(o.Iterations * o.Threads)
	}
	return max(math.Ceil(quantity.Round(o.Duration.Seconds()*speed/p.interval)), float64(o.FanOut()*o.Threads))
}

// untimed is how long the verification and warm-up before the timed part take.
func (p path) untimed(o move.Spec) float64 {
	passes := map[string]float64{"sample": 1, "full": float64(o.Iterations)}[o.Verify]
	return passes*p.alone + float64(o.Warmup*o.Threads)*p.interval
}
