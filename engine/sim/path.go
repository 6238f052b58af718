package sim

import (
	"math"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// path is the model of the requests of a case, without variation and at speed 1. Times are in seconds.
type path struct {
	interval float64 // between two completions
	latency  float64 // as it is stamped
	alone    float64 // of a request while no other is in flight
	bytes    uint64  // of a completion
}

// path returns the path of the case's first initiator, or its equivalent for an exchange of all ranks.
func (c task) path() path {
	if c.ep != nil {
		return c.ep.path(c.Options.Sim)
	}
	return pathOf(c.Options, first(c.Options))
}

// pathOf returns the path of an initiator to its targets.
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

// rateOf returns the bandwidth of an initiator: targets divide theirs among their initiators.
func rateOf(o move.Spec, initiator int) float64 {
	return quantity.Round(float64(o.Sim.Bandwidth) * o.Share(initiator))
}

// iterations returns the iterations of all threads in the timed part. With a duration the speed decides: those that
// begin before its end, but at least one of each thread to each target.
func (p path) iterations(o move.Spec, speed float64) float64 {
	if o.Duration == 0 {
		return float64(o.Iterations * o.Threads)
	}
	return max(math.Ceil(quantity.Round(o.Duration.Seconds()*speed/p.interval)), float64(o.FanOut()*o.Threads))
}

// untimed returns the time of the verification and warm-up before the timed part.
func (p path) untimed(o move.Spec) float64 {
	passes := map[string]float64{"sample": 1, "full": float64(o.Iterations)}[o.Verify]
	return passes*p.alone + float64(o.Warmup*o.Threads)*p.interval
}
