package workload

import (
	"encoding/json"
	"time"

	"github.com/weir-bench/weir/internal/logwatch"
)

// Service is a process that must run during the launches of a case; several launches may share it.
type Service struct {
	Name   string
	Node   int      // index among the nodes of the session
	Needs  []string // services that must be ready before it starts
	Fresh  Fresh
	Runner string          // name of its engine.Runner
	Spec   json.RawMessage // for the runner
	Ready  time.Duration   // time limit until it is ready
	// Observed: metrics or a proof are read from it. Counts: it has /metrics below its url, in the text format of
	// Prometheus.
	Observed, Counts bool
	Watch            logwatch.Spec // patterns to find in its log
	Sampled          Sampled
	// Own are the resources of its node that are reserved for it.
	Own  Own
	Etcd bool          // it gets a part of the session's etcd
	Stop time.Duration // from the stop signal to SIGKILL
	// Values are names in its texts that are expressions over results of runs.
	Values []string
	// Cluster is set for a service in a Kubernetes cluster, which is no process of a node: Node, Runner and Spec are
	// ignored.
	Cluster *InCluster
}

// Sampled says what is sampled while a service runs, for its metrics.
type Sampled struct {
	GPUMemory bool     `json:"gpu_memory,omitempty"` // memory in use of the GPUs of its node
	Opens     []string `json:"opens,omitempty"`      // patterns of files that its processes have open
}

// Any reports whether anything is sampled.
func (s Sampled) Any() bool { return s.GPUMemory || len(s.Opens) > 0 }

// Samples are what was sampled in a launch.
type Samples struct {
	GPUMemory int64  `json:"gpu_memory,omitempty"` // most bytes in use of a GPU of its node
	NoMemory  string `json:"no_memory,omitempty"`  // why that is unknown; "": it is known
	Opened    []int  `json:"opened,omitempty"`     // number of files for each pattern
	NotOpened string `json:"not_opened,omitempty"` // why that is unknown; "": it is known
}

// Fresh says how often a service is started anew.
type Fresh string

// A service is started once per session; or again for each run, for each value of axis variant, or for each launch. It
// is always started again if its settings change.
const (
	FreshSession Fresh = "session"
	FreshRun     Fresh = "run"
	FreshVariant Fresh = "variant"
	FreshLaunch  Fresh = "launch"
)

// VariantAxis is the axis of the variants of a scenario.
const VariantAxis = string(FreshVariant)

// AllFresh are all values of Fresh.
var AllFresh = []Fresh{FreshSession, FreshRun, FreshVariant, FreshLaunch}

// ServiceFacts are the facts of a service's first part, which it reports when it is ready.
type ServiceFacts struct {
	Seconds float64           `json:"seconds"`         // from its start until it was ready
	Names   map[string]string `json:"names"`           // values of names for launches, as service.NAME.url
	Proof   string            `json:"proof,omitempty"` // path of a file that must exist after a launch
	// Before is the written.State of that file before the service started.
	Before string `json:"before,omitempty"`
}

// Observation is the state of a service before and after a launch.
type Observation struct {
	Matches       []logwatch.Match // of Watch in its log
	Tail          []string         // the last lines of its log
	Unproven      string           // why the file of the proof is invalid; "" if it is valid
	Began         time.Time        // begin of the launch, by the clock that stamps the lines of its log
	Samples       Samples
	Before, After string // its /metrics in the text format of Prometheus; "": it has none
}
