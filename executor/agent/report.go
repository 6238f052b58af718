package agent

import (
	"time"

	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Report is a report of an agent about a task; exactly one field besides Node and Task is set.
type Report struct {
	Node        string           `json:"-"`
	Task        string           `json:"task"`
	Joined      *placement.Node  `json:"joined,omitempty"`      // the agent is ready for orders
	Addresses   Blob             `json:"addresses,omitzero"`    // of the node's ranks in a launch on several nodes
	Connected   bool             `json:"connected,omitempty"`   // the node's ranks are connected
	Failing     string           `json:"failing,omitempty"`     // why the launch fails, before its outcome, to stop other nodes
	Running     *Moment          `json:"running_ago,omitempty"` // when the first case began
	Progress    *Progress        `json:"progress,omitempty"`
	Result      *Result          `json:"result,omitempty"`
	Outcome     *Outcome         `json:"outcome,omitempty"` // the launch has ended with all its processes
	Check       *results.Check   `json:"check,omitempty"`
	Command     *results.Command `json:"command,omitempty"`
	Secrets     *SecretsReport   `json:"secrets,omitempty"`
	Artifact    *ArtifactReport  `json:"artifact,omitempty"`
	Observation *Observation     `json:"observed,omitempty"`
	Clock       *time.Time       `json:"clock,omitempty"` // the node's time
	Log         *Log             `json:"log,omitempty"`   // of an agent with its own log directory
}

// Log is a piece of a log file.
type Log struct {
	Name string `json:"name"` // below the session's logs
	From int64  `json:"from"` // offset in bytes
	Text []byte `json:"-"`
}

// SecretsReport names secrets that a node lacks and variables that it refuses.
type SecretsReport struct{ Problems []string }

// Progress is the progress of the slowest rank of a node.
type Progress struct {
	Case        int // index into the launch's cases
	Phase       string
	Done, Total uint64
	Rate        float64 // bytes/s of the last timed part
}

// Result is what one rank measured in one case.
type Result struct {
	Part *workload.Part `json:"case"`
	Rate float64        `json:"rate"` // bytes/s of a rank with samples, as its runner saw it
}

// Outcome is how a launch ended on a node.
type Outcome struct {
	Failure *results.Failure `json:"failure,omitempty"` // nil: every rank ran every case and ended in order
	// Ignored are variables without effect: a library ignores them, or weir's own values replace them.
	Ignored []results.Ignored `json:"ignored,omitempty"`
	// LowerTransports are the transports of the library below the fabric's own, by rank.
	LowerTransports map[int][]fabric.LowerTransport `json:"beneath,omitempty"`
	Variables       []results.Variable              `json:"variables,omitempty"` // of the node's ranks
	Counters        []results.Counter               `json:"counters,omitempty"`  // of the node, if they have increased
	Load            *results.NodeLoad               `json:"load,omitempty"`      // of the node; nil: not known
	At              Moment                          `json:"ago"`
	Kind            causeKind                       `json:"kind"`
}

// Cancelled reports whether the launch ended because it was told to.
func (o *Outcome) Cancelled() bool { return o.Failure != nil && o.Kind == causeCancelled }

// PeersMissing reports whether the launch ended because ranks of other nodes did not arrive.
func (o *Outcome) PeersMissing() bool { return o.Failure != nil && o.Kind == causePeerMissing }

// AgentEnded reports whether the launch ended because its agent ends, so that the node is lost.
func (o *Outcome) AgentEnded() bool { return o.Failure != nil && o.Kind == causeAgentEnded }

// TakesPrecedence reports whether this outcome is nearer to the root cause than the other.
func (o *Outcome) TakesPrecedence(other *Outcome) bool {
	if other == nil || other.Failure == nil || o.Failure == nil {
		return o.Failure != nil
	}
	if o.Kind != other.Kind {
		return o.Kind < other.Kind
	}
	return time.Time(o.At).Before(time.Time(other.At))
}
