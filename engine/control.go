package engine

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// ControlSize is the size in bytes of the page that an agent shares with each rank process.
const ControlSize = 4096

// Control is a page shared between an agent and one rank, so that the agent can observe the rank's C loop and stop it.
// The agent writes Abort, the rank all other fields. engine/native checks that C has the same layout.
type Control struct {
	Abort     atomic.Uint32 // not 0: abort at once
	Phase     atomic.Uint32 // index into Phases
	Heartbeat atomic.Uint64 // grows with each turn of the rank's loop, even if it only waits
	Done      atomic.Uint64 // iterations completed in this phase
	Total     atomic.Uint64 // iterations that this phase will have; 0: unknown
	Rate      atomic.Uint64 // bytes per second of the last completed timed part
	Ending    atomic.Int64  // CLOCK_MONOTONIC when the rank began to end itself as its launch intends; 0: it did not
}

// Phases are the phases of a rank in order; Control.Phase is an index.
var Phases = []string{"start", "ready", "connect", "verify", "warmup", "run", "ceiling", "teardown"}

// The phases by number.
const (
	PhaseStart uint32 = iota
	PhaseReady
	PhaseConnect
	PhaseVerify
	PhaseWarmup
	PhaseRun
	PhaseCeiling
	PhaseTeardown
)

// PhaseName returns the name of a phase, also for an invalid index of a broken rank.
func PhaseName(n uint32) string {
	if int(n) < len(Phases) {
		return Phases[n]
	}
	return fmt.Sprintf("phase %d", n)
}

// ControlAt overlays a Control on memory mapped from the shared page.
func ControlAt(page []byte) *Control {
	if len(page) < ControlSize {
		panic("control page too small")
	}
	return (*Control)(unsafe.Pointer(&page[0]))
}
