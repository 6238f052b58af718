// Package engine is the interface between the executor, which manages processes and etcd, and the engines, which run
// ranks. Package engine/native (cgo) moves bytes.
//
// A rank process calls Open, Address, Connect, Run for each case of its launch, and Close, in this order. All ranks of
// a launch run the same cases in the same order; engines synchronise between cases over the data path.
package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Launch is the description of a launch for its ranks.
type Launch struct {
	ID     string `json:"id"`
	Index  int    `json:"index"`
	Runner string `json:"runner"`           // name of its Runner
	Fabric string `json:"fabric,omitempty"` // resolved: never auto; "": the ranks have no peers
	// Options are the fabric's options that weir chose together with it; the cases have all others.
	Options fabric.Options `json:"options,omitempty"`
	Ranks   int            `json:"ranks"`
	Threads int            `json:"threads"` // of each rank
	Memory  uint64         `json:"memory"`  // bytes that a rank touches before it is ready, at least
	Seed    uint64         `json:"seed"`    // for contents of blocks
	// Nodes is the node name of each rank.
	Nodes []string `json:"nodes"`
	Cases []Case   `json:"cases"`
	// Names are values of placeholders in texts of its cases, as service.NAME.url.
	Names map[string]string `json:"names,omitempty"`
	// Alone: the session has a single host, and all its processes are reached at 127.0.0.1.
	Alone bool `json:"alone,omitempty"`
}

// Case is a case for a rank. Spec and Large are the JSON of the workload's Spec, which only its runner reads.
type Case struct {
	Key   string          `json:"key"`
	Spec  json.RawMessage `json:"spec"`
	Large json.RawMessage `json:"large,omitempty"`
	// Timeout is the time limit of each phase of the case in the engine, in nanoseconds.
	Timeout int64 `json:"timeout_ns"`
	// Before is the time limit of the runner's work for all cases ahead of this one, in nanoseconds.
	Before int64 `json:"before_ns,omitempty"`
}

// Identity is the description of a single rank.
type Identity struct {
	Rank int `json:"rank"`
	// CPUs are the processors of its threads, one each; none: any.
	CPUs []int `json:"cpus,omitempty"`
	// Memory is the free memory of the rank's node before the launch's first rank started, which must hold all of them;
	// nil: that at Open, where other ranks may have allocated already.
	Memory *Memory `json:"memory,omitempty"`
	// Clock stamps the lines of its log, if they begin with their times, as steady.Clock.Ahead.
	Clock int64 `json:"clock,omitempty"`
	// Life are the cases that this process of the rank runs; nil: all.
	Life *Life `json:"life,omitempty"`
}

// Runner runs ranks, each in a process of its own.
type Runner interface {
	// Open prepares a rank: it opens the fabric, and allocates, touches and registers memory for the largest case.
	Open(launch Launch, self Identity, control *Control) (Rank, error)
}

// Quiet is a Runner with processes where neither the garbage collector nor other goroutines may run during
// measurements.
type Quiet interface{ Quiet() }

// Commands is a Runner with ranks that run programs which a scenario names. Agents refuse its launches unless they
// allow commands.
type Commands interface{ RunsCommands() }

// Revealing is a Runner with ranks that send environment variables to an address of the scenario. An agent that does
// not allow commands must allow each of its node's variables.
type Revealing interface {
	// Reveals returns the names of these variables in a case.
	Reveals(c Case) ([]string, error)
}

// Environment variables of the ranks of Commands. The directories are removed with the launch and with the session.
const (
	LaunchScratch  = "WEIR_LAUNCH_SCRATCH"
	SessionScratch = "WEIR_SESSION_SCRATCH"
	// EtcdURL is the address of the launch's part of etcd, if any. Besides gRPC it answers GET URL/KEY: 200 if the key
	// exists, else 404.
	EtcdURL = "WEIR_ETCD_URL"
)

// Rank is a rank of a launch in its own process.
type Rank interface {
	// Run runs one case. After an error the rank is unusable: exit without cleaning up. With an error it may return an
	// Unfinished part.
	Run(c Case) (*workload.Part, error)
	// Close ends the rank after its last case.
	Close() error
}

// Peers is a Rank that is connected to the other ranks of its launch.
type Peers interface {
	// Address returns the address that other ranks need to connect to this one.
	Address() ([]byte, error)
	// Connect connects to all ranks; addresses are in rank order.
	Connect(addresses [][]byte) error
}

// Prober finds out what a host offers.
type Prober interface {
	// Probe describes the named fabrics (default: all) on this host. It may load vendor libraries, so call it in a
	// short-lived process.
	Probe(fabrics []string) map[string]results.Fabric
}

// Engine runs ranks and probes hosts.
type Engine interface {
	Runner
	Prober
}

// HostProber is a Prober for properties of a host beyond its fabrics.
type HostProber interface {
	// StampClock returns the name of the clock of its timestamps.
	StampClock() string
	// GPUs returns the GPUs that this process may use, by their PCI addresses; nil and a reason if they are unknown. It
	// may load a vendor library, like Probe.
	GPUs() (list []results.GPU, reason string)
	// GPUMemory returns the memory in use of the GPUs of the host now; nil and a reason if it is unknown. It may load
	// a vendor library, like Probe, and is called often.
	GPUMemory() (used []GPUMemory, reason string)
}

// GPUMemory is the memory in use of a GPU.
type GPUMemory struct {
	Bus  string // PCI address
	Used int64  // bytes
}

// Error says where and why an engine failed.
type Error struct {
	Fabric string `json:"fabric"`
	Op     string `json:"op"`    // failed operation: open, register, connect, put, …
	Phase  string `json:"phase"` // ready, connect, run, verify, teardown
	Peer   int    `json:"peer"`  // -1: none
	// PeerNode is the peer's node, if that is another node and connecting to it failed.
	PeerNode string `json:"peer_node,omitempty"`
	Code     int    `json:"code"`
	Text     string `json:"text"` // with the library's own message
	// Killed: a program of the rank was ended by a signal that weir did not send.
	Killed bool `json:"killed,omitzero"`
}

func (e *Error) Error() string {
	if e.Fabric == "" && e.Op == "" {
		return e.Text
	}
	text := strings.Trim(e.Fabric+": "+cmp.Or(e.Op, e.Phase), ": ")
	if e.PeerNode != "" {
		return fmt.Sprintf("%s (peer %d on node %s): %s", text, e.Peer, e.PeerNode, e.Text)
	}
	if e.Peer >= 0 {
		return fmt.Sprintf("%s (peer %d): %s", text, e.Peer, e.Text)
	}
	return text + ": " + e.Text
}
