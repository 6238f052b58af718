package engine

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// ControlSize is the size in bytes of the page that an agent shares with each
// rank process.
const ControlSize = 4096

// Control is a page shared between an agent and one rank. The agent writes
// Abort, the rank the rest, while its C loop runs; nothing else tells from
// outside whether a loop still moves. engine/native holds that of C to this layout.
type Control struct {
	Abort     atomic.Uint32 // not 0: give up at once
	Phase     atomic.Uint32 // index into Phases
	Heartbeat atomic.Uint64 // grows whenever the rank's loop turns, even if it only waits
	Done      atomic.Uint64 // iterations completed in this phase
	Total     atomic.Uint64 // iterations that this phase will have; 0: unknown
	Rate      atomic.Uint64 // bytes per second of the last timed part that ended
	Ending    atomic.Int64  // CLOCK_MONOTONIC when the rank began to end itself, as its launch says; 0: it did not
}

// Phases of a rank, in order; Control.Phase counts them.
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

// PhaseName is the name of a phase number, whatever a broken rank wrote there.
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
