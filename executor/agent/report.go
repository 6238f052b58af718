package agent

import (
	"time"

	"weir/fabric"
	"weir/results"
	"weir/workload"
)

// Report is what an agent says of a task; one of the pointers is set.
type Report struct {
	Node, Task  string
	Running     *time.Time // all ranks are connected: the first case begins
	Progress    *Progress
	Result      *Result
	Outcome     *Outcome // the launch is over, and all its processes are gone
	Check       *results.Check
	Command     *results.Command
	Secrets     *SecretsReport
	Artifact    *ArtifactReport
	Observation *Observation
	Clock       *time.Time // of the node, when it was asked
	Log         *Log       // of an agent whose logs are not the session's
}

// Log is a piece of a log file.
type Log struct {
	Name string // below the session's logs
	From int64  // where in the file the piece begins
	Text []byte
}

// SecretsReport says which secrets a node lacks and which variables it refuses.
type SecretsReport struct{ Problems []string }

// Progress is where the slowest of a node's ranks is.
type Progress struct {
	Case        int // index into the launch's cases
	Phase       string
	Done, Total uint64
	Rate        float64 // bytes/s of the last timed part
}

// Result is what one rank measured in one case.
type Result struct {
	Part *workload.Part
	Rate float64 // bytes/s of a rank with samples, as its runner saw it
}

// Outcome is how a launch ended on a node.
type Outcome struct {
	Failure *results.Failure // nil: every rank ran every case and left in order
	// Ignored are variables that did nothing: a library has no use for them, or weir's own
	// values replaced them.
	Ignored []results.Ignored
	// Beneath is, by rank, what the library beneath that of the fabric says it used.
	Beneath map[int][]fabric.Beneath
	// Variables are the library variables of the node's ranks, each with their numbers.
	Variables []results.Variable
	// Counters are those of the node that moved meanwhile.
	Counters []results.Counter
	// Load is what else was on the node meanwhile; nil: nobody looked.
	Load *results.NodeLoad
	At   time.Time
	kind kind
}

// Told says whether the launch ended because it was told to.
func (o *Outcome) Told() bool { return o.Failure != nil && o.kind == kindTold }

// Left says whether the launch ended here because the agent does: nothing more can be
// placed on its node.
func (o *Outcome) Left() bool { return o.Failure != nil && o.kind == kindLeft }

// Weightier says whether this outcome, of two failures of one launch, is nearer
// to the cause than the other.
func (o *Outcome) Weightier(other *Outcome) bool {
	if other == nil || other.Failure == nil || o.Failure == nil {
		return o.Failure != nil
	}
	if o.kind != other.kind {
		return o.kind < other.kind
	}
	return o.At.Before(other.At)
}
