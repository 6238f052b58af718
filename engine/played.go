package engine

import (
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Simulator simulates whole launches in the coordinator's process and in virtual time. Each session has one, which
// keeps the time between launches.
type Simulator interface {
	Play(l Launch) (*Played, error)
}

// Simulation is a registered simulation of a runner.
type Simulation struct {
	New func() Simulator
	// Fabrics are the fabrics that nodes offer to simulated launches.
	Fabrics map[string]results.Fabric
}

// Played is a simulated launch. Its times are on the session's virtual clock, on which launches follow each other.
type Played struct {
	Began     time.Duration
	Connected time.Duration // all ranks are connected: the first case begins
	Ended     time.Duration
	Cases     []PlayedCase     // completed by all ranks, in order
	Failure   *results.Failure // nil: all cases and the teardown succeeded
}

// PlayedCase is one case of a simulated launch.
type PlayedCase struct {
	From, To time.Duration
	Rate     float64          // bytes/s of all ranks
	Ranks    []*workload.Part // by rank
}
