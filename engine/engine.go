// Package engine says what a rank can do. It is the Go interface between the
// executor, which knows processes and etcd but not how bytes move, and the
// engines, which know how bytes move but neither processes nor etcd: native
// (package engine/native, cgo) moves real ones.
//
// A rank process does, in this order: Open, Address, Connect, then Run for each
// case of its launch, then Close. All ranks of a launch run the same cases in
// the same order; between them an engine synchronises over the data path itself.
package engine

import (
	"fmt"
	"os"

	"weir/results"
	"weir/workload"
)

// Launch is what every rank of a launch is told.
type Launch struct {
	ID     string `json:"id"`
	Index  int    `json:"index"`
	Fabric string `json:"fabric"` // resolved: never auto
	Ranks  int    `json:"ranks"`
	Seed   uint64 `json:"seed"` // of the contents of blocks
	// Nodes is the node name of each rank.
	Nodes []string `json:"nodes"`
	Cases []Case   `json:"cases"`
}

// Threads is how many each rank of the launch has; all its cases have as many.
func (l Launch) Threads() int {
	if len(l.Cases) == 0 {
		return 1
	}
	return max(1, int(l.Cases[0].Options.Threads))
}

// Case is one case as a rank runs it.
type Case struct {
	Key     string                   `json:"key"`
	Options workload.TransferOptions `json:"options"`
	// Timeout bounds each phase of the case inside the engine, in nanoseconds.
	Timeout int64 `json:"timeout_ns"`
	// Play bounds playing the sequence that the cases of the launch are together, which
	// is done before the first of them; 0: they are none.
	Play int64 `json:"play_ns,omitempty"`
}

// Identity is what one rank is told about itself.
type Identity struct {
	Rank int `json:"rank"`
	// CPUs are the processors that its threads run on, one each; none: wherever the
	// kernel likes.
	CPUs []int `json:"cpus,omitempty"`
	// Memory is what the rank's node had free before any of the launch's ranks was
	// started; nil: what it has when the rank opens. Whether all of them fit can only be
	// said of the former: the latter lacks what others have taken by then.
	Memory *Memory `json:"memory,omitempty"`
}

// Engine makes ranks.
type Engine interface {
	// Probe says what this host offers of the named fabrics (all, if none are
	// named). It may load vendor libraries, so it belongs in a throw-away process.
	Probe(fabrics []string) map[string]results.Fabric
	// Open prepares a rank: fabric open, memory for the largest case allocated,
	// touched and registered. control is the shared page described at Control.
	Open(launch Launch, self Identity, control *Control) (Rank, error)
}

// HostProber is an engine that knows more of a host than the kernel says.
type HostProber interface {
	// StampClock names the clock of its stamps.
	StampClock() string
	// GPUs are those that this process may use, by their PCI addresses; nil and a reason,
	// if nobody tells. It may load a vendor library, like Probe.
	GPUs() (list []results.GPU, reason string)
}

// Rank is one rank of a launch in its own process.
type Rank interface {
	// Address is what the other ranks need to connect to this one.
	Address() ([]byte, error)
	// Connect connects to all ranks, whose addresses come in rank order.
	Connect(addresses [][]byte) error
	// Run runs one case. An error leaves the rank unusable: exit, do not clean up.
	Run(c Case) (*CaseResult, error)
	// Close ends the rank after its last case.
	Close() error
}

// CaseResult is what one rank measured in one case.
type CaseResult struct {
	Key       string `json:"key"`
	Rank      int    `json:"rank"`
	Initiator bool   `json:"initiator"` // false: it only served, and Samples is nil
	Verified  bool   `json:"verified"`
	Transport string `json:"transport"` // what the fabric says that it used
	// Transports of an initiator, name by name; one without a name where the fabric
	// does not say what carried the data.
	Transports []results.Transport `json:"transports,omitempty"`
	// MemoryNodes are the NUMA nodes that the buffers of its threads were bound to and are
	// on, ascending; nil: they were not bound.
	MemoryNodes []int `json:"memory_nodes,omitempty"`
	// Walk is what its requests and those to it go over; nil: a cache cannot be told from it.
	Walk    *Walk   `json:"walk,omitempty"`
	Prep    Prep    `json:"prep"`
	Memcpy  float64 `json:"memcpy"`  // bytes/s, 0 where not probed
	Ceiling float64 `json:"ceiling"` // bytes/s of the path, 0 where not probed
	// CeilingBest is the best of the spans of which Ceiling is the median: the path
	// has carried that once.
	CeilingBest float64 `json:"ceiling_best"`
	Usage       Usage   `json:"usage"`
	Clock       Clock   `json:"clock"`
	Stages      Stages  `json:"stages"` // of an initiator
	// Threads of a rank that has several; nil: it has one.
	Threads *Threads `json:"threads,omitempty"`
	// Iterations of an initiator in workload traffic, and of a rank that copies only its
	// own cell, in their order; of more than 4096
	// the first 2048 and the last 2048.
	Iterations []Span `json:"iterations,omitempty"`
	// Delivered are the cells of an initiator in workload traffic, by target.
	Delivered []Delivery `json:"delivered,omitempty"`
	// Steps are the iterations of workload traffic_sequence in which this case's pattern
	// was played with the others, and Began the instants at which they began, on the
	// clock of Span.
	Steps []Step  `json:"steps,omitempty"`
	Began []int64 `json:"began,omitempty"`
	// Samples of an initiator.
	Samples *results.Samples `json:"-"`
}

// Prep are the times in seconds that a rank needed before its first case.
type Prep struct {
	Alloc    float64 `json:"alloc"`
	Register float64 `json:"register"`
	Connect  float64 `json:"connect"`
}

// Span is an iteration of one rank, in nanoseconds of a clock that all ranks of the
// launch have in common: CLOCK_MONOTONIC of the first one's host.
type Span struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Delivery is the cell of a matrix for one peer: the mean time in seconds, over so many
// iterations, from the instant that all ranks agreed on until the initiator knew that
// all of it had arrived.
type Delivery struct {
	Peer       int     `json:"peer"`
	Iterations uint64  `json:"iterations"`
	Mean       float64 `json:"mean"`
}

// Step is a pattern of a sequence at one rank, in one iteration, on the clock of
// Span. All are 0 at a rank that takes no part, and Start and End at one that begins
// nothing.
type Step struct {
	Agreed int64 `json:"agreed"` // the instant at which its ranks had agreed to start
	Start  int64 `json:"start"`
	End    int64 `json:"end"`
}

// Usage is what a rank's process used from the common start until all ranks had
// ended their timed parts.
type Usage struct {
	CPU      float64 `json:"cpu"` // user and system seconds
	Switches uint64  `json:"switches"`
}

// Clock is the clock of a rank's stamps, in seconds.
type Clock struct {
	Resolution float64 `json:"resolution"`
	Cost       float64 `json:"cost"` // of reading it once
	// Bound is by how much the difference to the clock of rank 0, which is taken off all
	// instants, may be wrong; 0 where it is the same clock.
	Bound float64 `json:"bound,omitempty"`
}

// Stages are the parts of the time of a request.
type Stages struct {
	Prepare    float64 `json:"prepare"`             // seconds for one request; 0: none was made
	Made       Stage   `json:"made,omitzero"`       // of requests that the fabric itself made, a part of Prepare
	Listed     Stage   `json:"listed,omitzero"`     // of lists of blocks that it prepared, of which it made them
	Registered Stage   `json:"registered,omitzero"` // of registering anew what a request moves
	Post       Stage   `json:"post"`
	Transfer   Stage   `json:"transfer"`
}

// Stage is how long a part of so many stamped requests took, in seconds.
type Stage struct {
	Stamps uint64  `json:"stamps"`
	Mean   float64 `json:"mean"`
	P99    float64 `json:"p99"`
}

// Threads is what the samples of a rank with several threads do not say of them.
type Threads struct {
	// From and To bound the time in which all of them were in their timed parts
	// (CLOCK_MONOTONIC, ns). Where To is not after From there was none.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Took are the timed parts of all of them in seconds, added up.
	Took float64 `json:"took"`
}

// Error says where and why an engine gave up.
type Error struct {
	Fabric string `json:"fabric"`
	Op     string `json:"op"`    // what was being done: open, register, connect, put, …
	Phase  string `json:"phase"` // ready, connect, run, verify, teardown
	Peer   int    `json:"peer"`  // -1: none in particular
	Code   int    `json:"code"`
	Text   string `json:"text"` // with the library's own words
}

func (e *Error) Error() string {
	if e.Peer >= 0 {
		return fmt.Sprintf("%s: %s (peer %d): %s", e.Fabric, e.Op, e.Peer, e.Text)
	}
	return fmt.Sprintf("%s: %s: %s", e.Fabric, e.Op, e.Text)
}

// RankEnv is the environment that a rank process needs before its first
// instruction, because vendor libraries read it while they are loaded: they must
// neither take over signal handlers nor patch the memory functions under Go.
func RankEnv() []string {
	return []string{
		"UCX_HANDLE_ERRORS=none", "UCX_ERROR_SIGNALS=", "UCX_MEM_EVENTS=n", "UCX_WARN_UNUSED_ENV_VARS=y",
		"IPATH_NO_BACKTRACE=1", "HFI_NO_BACKTRACE=1",
	}
}

var registered Engine

// Register sets the engine of this program; package engine/native does so when
// it is linked in.
func Register(e Engine) { registered = e }

// Default is the registered engine. A program built without cgo has none.
func Default() (Engine, error) {
	if registered == nil {
		return nil, fmt.Errorf("%s was built without cgo: it can plan, judge and report, but it cannot move bytes; build it with CGO_ENABLED=1 and a C compiler", os.Args[0])
	}
	return registered, nil
}
