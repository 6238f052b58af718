// Package elastic leads a group of ranks through the phases of workload ep_elastic: rank 0 gives
// orders, and each process of a rank carries them out. How bytes move is the business of a Rank.
package elastic

import (
	"encoding/json"

	"golang.org/x/sys/unix"

	"weir/workload/epelastic"
)

// Orders of the leader.
const (
	doOpen       = "open"       // make your memory
	doClock      = "clock"      // say what time it is
	doAddress    = "address"    // say how you are reached: nobody is connected to you
	doConnect    = "connect"    // to the ranks that have an address
	doPrepare    = "prepare"    // the rows of a group
	doSteps      = "steps"      // make so many
	doDisconnect = "disconnect" // from all; everything has been delivered
	doAbandon    = "abandon"    // the same where something may be under way to ranks that are lost
	doEnd        = "end"        // the phase is over for you
	doMask       = "mask"       // ranks are lost: break off what you do; no answer
	doBreakOff   = "break off"  // say whether you are there; no answer but that of the steps
)

// order is what the leader tells a member.
type order struct {
	Do        string   `json:"do"`
	Number    int      `json:"number"`
	Group     int      `json:"group,omitempty"` // its number in the phase
	Ranks     []int    `json:"ranks,omitempty"`
	Addresses [][]byte `json:"addresses,omitempty"` // by rank; none: not of the group
	Steps     Steps    `json:"steps,omitzero"`
}

// Steps is an order to make steps.
type Steps struct {
	N int `json:"n"`
	// EndAt is the step in which the rank ends, in the dispatch, the combine or before it (EndIn as in
	// epelastic.Phase), by SIGKILL or by saying nothing any more; EndIn "": it does not.
	EndAt int    `json:"end_at,omitempty"`
	EndIn string `json:"end_in,omitempty"`
	Dies  bool   `json:"dies,omitempty"`
}

// answer is what a member says of an order.
type answer struct {
	Number  int    `json:"number"`
	Address []byte `json:"address,omitempty"`
	Clock   int64  `json:"clock,omitempty"`
	GPU     string `json:"gpu,omitempty"`    // see Rank.Open
	Broken  bool   `json:"broken,omitempty"` // not all steps were made
	// Missing are ranks of which nothing came, or that could not be reached, and Why says so.
	Missing []int  `json:"missing,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Stepped is what came of an order to make steps; of one that failed too.
type Stepped struct {
	Steps   []epelastic.Step // complete ones; their Group is not set
	Wrong   int64            // tokens
	WrongAt string
	Mute    bool  // the rank fell silent, as it was told
	Missing []int // of which nothing came for too long
	Stopped int64 // how long kernels took to end, from the word that ended their waits; 0: there were none
}

// Rank moves the bytes of a member. Only BreakOff is called while another call is under way.
type Rank interface {
	// Open makes the memory, and gives the address of the GPU that it is on; "": it is on none.
	Open() (gpu string, err error)
	Address() ([]byte, error)
	// Connect connects to the ranks that have an address.
	Connect(addresses [][]byte) error
	// Prepare makes the rows of a group; contents tells them from those of others.
	Prepare(group []int, contents int) error
	Steps(s Steps) (Stepped, error)
	// BreakOff ends Steps, until ranks are abandoned.
	BreakOff()
	// Disconnect undoes Connect; abandon: ranks may be gone, and nothing is waited for.
	Disconnect(abandon bool) error
	// Die ends the process; it returns where a test has it survive.
	Die()
}

// Now is CLOCK_MONOTONIC in ns.
func Now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // which every kernel has
	return t.Nano()
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts always encode
	}
	return text
}
