package workload

import (
	"encoding/json"
	"time"

	"weir/logwatch"
)

// Service is a process that must run during the launches of a case, and that several
// launches may share.
type Service struct {
	Name   string
	Node   int      // by its place among the nodes of the session
	Needs  []string // services that must be ready before it starts
	Fresh  Fresh
	Runner string          // executes it, see package engine
	Spec   json.RawMessage // what the runner reads
	Ready  time.Duration   // until it must be ready
	// Observed says that metrics or a proof are read of it, Counts that it counts at /metrics
	// below its url, in the text format of Prometheus.
	Observed, Counts bool
	Watch            logwatch.Spec // what is looked for in its log
	// Own is what of its node the service has to itself.
	Own  Own
	Etcd bool          // a part of the session's etcd is lent to it
	Stop time.Duration // from the signal to end until SIGKILL
	// Values are names in its texts that are expressions over values of runs.
	Values []string
	// Cluster is what the service is in a Kubernetes cluster, where it is no process of a node:
	// Node, Runner and Spec do not count then.
	Cluster *InCluster
}

// Fresh says how often a service is started anew.
type Fresh string

// A service is started once for the session; or again for each run, for each value of axis
// variant, or for each launch. One with other settings than before is always started again.
const (
	FreshSession Fresh = "session"
	FreshRun     Fresh = "run"
	FreshVariant Fresh = "variant"
	FreshLaunch  Fresh = "launch"
)

// VariantAxis is the axis that goes through the variants of a scenario.
const VariantAxis = string(FreshVariant)

// AllFresh are all values.
var AllFresh = []Fresh{FreshSession, FreshRun, FreshVariant, FreshLaunch}

// ServiceFacts are what a service says of itself when it is ready, as the facts of its
// first part.
type ServiceFacts struct {
	Seconds float64           `json:"seconds"`         // from its start until it was ready
	Names   map[string]string `json:"names"`           // values of names that launches may use, as service.NAME.url
	Proof   string            `json:"proof,omitempty"` // the path of a file that is to prove something
}

// Observation is what was seen of a service before and after the timed part of a launch.
type Observation struct {
	Matches       []logwatch.Match // in its log, of Watch
	Tail          []string         // the last lines of its log
	Unproven      string           // why the file that is a proof is none; "": it is
	Began         time.Time        // of the timed part, by the clock of those who stamp the lines of its log
	Before, After string           // what it counts, in the text format of Prometheus; "": it does not
}
