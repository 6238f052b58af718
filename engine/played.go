package engine

import (
	"time"

	"weir/results"
	"weir/workload"
)

// Simulator goes through whole launches, in the coordinator's process and in virtual time,
// which it keeps from launch to launch. One is made for each session.
type Simulator interface {
	Play(l Launch) (*Played, error)
}

// Simulation makes simulators.
type Simulation struct {
	New func() Simulator
	// Fabrics are what nodes offer to launches that are simulated.
	Fabrics map[string]results.Fabric
}

// Played is a launch that a simulator went through instead of ranks. Its
// times are on the session's virtual clock, on which launches follow each other.
type Played struct {
	Began     time.Duration
	Connected time.Duration // all ranks are: the first case begins
	Ended     time.Duration
	Cases     []PlayedCase     // those that all ranks came through, in order
	Failure   *results.Failure // nil: all cases and the end went well
}

// PlayedCase is one case of a played launch.
type PlayedCase struct {
	From, To time.Duration
	Rate     float64          // bytes/s of all ranks
	Ranks    []*workload.Part // by rank
}
