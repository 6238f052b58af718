// Package elastic leads a group of ranks through the phases of workload ep_elastic: rank 0 sends orders, and each
// process of a rank executes them. A Rank moves the bytes.
package elastic

import (
	"encoding/json"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/workload/epelastic"
)

// Orders of the leader.
const (
	doOpen       = "open"       // allocate memory
	doClock      = "clock"      // report the clock
	doAddress    = "address"    // report the address; no rank is connected to it
	doConnect    = "connect"    // to the ranks with an address
	doPrepare    = "prepare"    // make the rows of a group
	doSteps      = "steps"      // make steps
	doDisconnect = "disconnect" // from all; everything has been delivered
	doAbandon    = "abandon"    // the same while requests to lost ranks may be in flight
	doEnd        = "end"        // the phase is over
	doMask       = "mask"       // ranks are lost: abort the current step; no answer
	doBreakOff   = "break off"  // report whether you are alive; the only answer is that of the steps
)

// order is a message of the leader to a member.
type order struct {
	Do        string   `json:"do"`
	Number    int      `json:"number"`
	Group     int      `json:"group,omitempty"` // its number in the phase
	Ranks     []int    `json:"ranks,omitempty"`
	Addresses [][]byte `json:"addresses,omitempty"` // by rank; none: outside of the group
	Steps     Steps    `json:"steps,omitzero"`
}

// Steps is an order to make steps.
type Steps struct {
	N int `json:"n"`
	// EndAt is the step in which the rank ends, in the dispatch, the combine or before it (EndIn as in
	// epelastic.Phase), by SIGKILL or by not responding any more; EndIn "": it does not.
	EndAt int    `json:"end_at,omitempty"`
	EndIn string `json:"end_in,omitempty"`
	Dies  bool   `json:"dies,omitempty"`
}

// answer is the answer of a member to an order.
type answer struct {
	Number  int    `json:"number"`
	Address []byte `json:"address,omitempty"`
	Clock   int64  `json:"clock,omitempty"`
	GPU     string `json:"gpu,omitempty"`    // see Rank.Open
	Broken  bool   `json:"broken,omitempty"` // not all steps were made
	// Missing are ranks that did not respond, or could not be reached, and Why is the reason.
	Missing []int  `json:"missing,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Stepped is the result of an order to make steps, even a failed one.
type Stepped struct {
	Steps   []epelastic.Step // complete ones; their Group is not set
	Wrong   int64            // tokens
	WrongAt string
	Mute    bool  // the rank stopped responding, as ordered
	Missing []int // ranks that did not respond in time
	Stopped int64 // time that kernels took to end after they were stopped; 0: there were none
}

// Rank moves the bytes of a member. Only BreakOff may be called during another call.
type Rank interface {
	// Open allocates the memory, and returns the address of its GPU; "": there is none.
	Open() (gpu string, err error)
	Address() ([]byte, error)
	// Connect connects to the ranks with an address.
	Connect(addresses [][]byte) error
	// Prepare makes the rows of a group; contents distinguishes them from other rows.
	Prepare(group []int, contents int) error
	Steps(s Steps) (Stepped, error)
	// BreakOff aborts Steps, until ranks are abandoned.
	BreakOff()
	// Disconnect undoes Connect. abandon: ranks may be lost, and it waits for nothing.
	Disconnect(abandon bool) error
	// Die ends the process; it returns only in tests.
	Die()
}

// Now is CLOCK_MONOTONIC in ns.
func Now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // supported by every kernel
	return t.Nano()
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts always encode
	}
	return text
}
