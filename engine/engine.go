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
	"encoding/json"
	"fmt"

	"weir/fabric"
	"weir/results"
	"weir/workload"
)

// Launch is what every rank of a launch is told.
type Launch struct {
	ID     string `json:"id"`
	Index  int    `json:"index"`
	Runner string `json:"runner"`           // executes its ranks
	Fabric string `json:"fabric,omitempty"` // resolved: never auto; "": the ranks have no peers
	// Options are those of the fabric that weir chose together with it; the cases have all
	// others.
	Options fabric.Options `json:"options,omitempty"`
	Ranks   int            `json:"ranks"`
	Threads int            `json:"threads"` // of each rank
	Memory  uint64         `json:"memory"`  // bytes that a rank writes to before it is ready, at least
	Seed    uint64         `json:"seed"`    // of the contents of blocks
	// Nodes is the node name of each rank.
	Nodes []string `json:"nodes"`
	Cases []Case   `json:"cases"`
	// Names are the values of names in texts of its cases that the session knows, as
	// service.NAME.url.
	Names map[string]string `json:"names,omitempty"`
	// Alone says that the session has one host only: all others of it are reached at 127.0.0.1.
	Alone bool `json:"alone,omitempty"`
}

// Case is one case as a rank runs it. Spec and Large are what the workload's Spec is as
// JSON: only its runner reads them.
type Case struct {
	Key   string          `json:"key"`
	Spec  json.RawMessage `json:"spec"`
	Large json.RawMessage `json:"large,omitempty"`
	// Timeout bounds each phase of the case inside the engine, in nanoseconds.
	Timeout int64 `json:"timeout_ns"`
	// Before bounds what the runner does before this case for all of them, in nanoseconds.
	Before int64 `json:"before_ns,omitempty"`
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
	// Life says which cases this process of the rank runs, where a launch goes on without some of
	// its processes; nil: all.
	Life *Life `json:"life,omitempty"`
}

// Runner executes ranks of launches, each in a process of its own.
type Runner interface {
	// Open prepares a rank: of one that moves bytes, the fabric is open and memory for the
	// largest case allocated, touched and registered. control is the shared page described
	// at Control.
	Open(launch Launch, self Identity, control *Control) (Rank, error)
}

// Quiet is a Runner in whose processes nothing else may run while it measures: neither a
// garbage collector nor a second goroutine.
type Quiet interface{ Quiet() }

// Commands is a Runner whose ranks run programs that a scenario names: an agent has none of
// its launches unless it may run commands.
type Commands interface{ RunsCommands() }

// Revealing is a Runner whose ranks send values of variables of their environment to where a
// scenario says: an agent that runs no commands gives none of its node's own away.
type Revealing interface {
	// Reveals are the names of these variables in a case.
	Reveals(c Case) ([]string, error)
}

// Variables that a rank of Commands has: directories of its node that are removed with the
// launch and with the session.
const (
	LaunchScratch  = "WEIR_LAUNCH_SCRATCH"
	SessionScratch = "WEIR_SESSION_SCRATCH"
	// EtcdURL and EtcdLookup are where the part of etcd is that is lent to the launch, if any:
	// for its clients, and the Unix socket that tells whether there is a key.
	EtcdURL    = "WEIR_ETCD_URL"
	EtcdLookup = "WEIR_ETCD_LOOKUP"
)

// Rank is one rank of a launch in its own process.
type Rank interface {
	// Run runs one case. An error leaves the rank unusable: exit, do not clean up. A part that comes with
	// it and is Unfinished is what the rank had until then.
	Run(c Case) (*workload.Part, error)
	// Close ends the rank after its last case.
	Close() error
}

// Peers is a Rank that is connected to the other ranks of its launch.
type Peers interface {
	// Address is what the other ranks need to connect to this one.
	Address() ([]byte, error)
	// Connect connects to all ranks, whose addresses come in rank order.
	Connect(addresses [][]byte) error
}

// Prober says what a host offers.
type Prober interface {
	// Probe says what this host offers of the named fabrics (all, if none are named). It
	// may load vendor libraries, so it belongs in a throw-away process.
	Probe(fabrics []string) map[string]results.Fabric
}

// Engine executes ranks and probes hosts.
type Engine interface {
	Runner
	Prober
}

// HostProber is a Prober that knows more of a host than the kernel says.
type HostProber interface {
	// StampClock names the clock of its stamps.
	StampClock() string
	// GPUs are those that this process may use, by their PCI addresses; nil and a reason,
	// if nobody tells. It may load a vendor library, like Probe.
	GPUs() (list []results.GPU, reason string)
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
	if e.Fabric == "" && e.Op == "" {
		return e.Text
	}
	if e.Peer >= 0 {
		return fmt.Sprintf("%s: %s (peer %d): %s", e.Fabric, e.Op, e.Peer, e.Text)
	}
	return fmt.Sprintf("%s: %s: %s", e.Fabric, e.Op, e.Text)
}
