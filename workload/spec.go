package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

// Spec are the options of a case, decoded and checked. Only the case's runner reads its JSON.
type Spec interface {
	Demand() Demand
}

// Large is a Spec with a part of megabytes, which is sent once for all cases of a launch that share it.
type Large interface {
	Spec
	// Large returns the JSON of that part, which the JSON of the Spec lacks; nil: there is none.
	Large() (json.RawMessage, error)
	// SameLarge reports whether another case's Spec shares the part. It does not compare contents.
	SameLarge(Spec) bool
}

// Demand are the requirements of a case on a cluster.
type Demand struct {
	Runner string // name of its engine.Runner
	Ranks  int    // processes
	// On is the node of each rank, by its index in the launch; nil: ranks are distributed in equal blocks.
	On      []int
	Threads int // of each rank
	// Own are the resources reserved for single ranks, by rank, beyond those of all ranks; nil: none.
	Own []Own
	// Fabric connects its ranks; fabric.AutoName: weir chooses; "": ranks have no peers.
	Fabric string
	// Lacks says which needs of the case a fabric cannot meet; "" if it meets all. nil: each does.
	Lacks  func(fabric string) string
	NUMA   option.Placement // of the ranks' memory
	GPU    bool             // at least some buffers of each rank are in GPU memory
	Memory uint64           // bytes that a rank touches before it is ready
	// Services must run during its launches, in their starting order.
	Services []Service
	// Values are names in its texts that are expressions over metrics of earlier runs, as
	// run("NAME", CONDITION).METRIC.
	Values []string
	Etcd   bool // its ranks get a part of the session's etcd
	// Reveals are environment variables of its ranks that they send to an address of the scenario.
	Reveals []string
}

// OfFabric returns the part of the demand that decides the fabric.
func (d Demand) OfFabric() fabric.Demand {
	return fabric.Demand{Fabric: d.Fabric, GPU: d.GPU, Lacks: d.Lacks}
}

// Own are the resources of a node that are reserved for one process.
type Own struct {
	GPUs int              `key:"gpus_per_rank,min=1,max=65536"`
	NICs int              `key:"nics_per_rank,min=1,max=65536"`
	CPUs int              `key:"cpus_per_rank,min=1,max=65536"`
	NUMA option.Placement `key:"numa"` // it runs on processors of this NUMA node; Default: any
}

// NothingOwn is an Own without resources.
var NothingOwn = Own{NUMA: option.Default}

// String formats the resources for reports.
func (o Own) String() string {
	var parts []string
	add := func(n int, what string) {
		if n == 1 {
			parts = append(parts, "1 "+what)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", n, what))
		}
	}
	add(o.GPUs, "GPU")
	add(o.NICs, "NIC")
	add(o.CPUs, "CPU")
	if o.NUMA != option.Default {
		parts = append(parts, "NUMA node "+o.NUMA.String())
	}
	return strings.Join(parts, ", ")
}

// Part is what one rank measured in one case.
type Part struct {
	Key  string `json:"key"`
	Rank int    `json:"rank"`
	// Facts are JSON in a form of the workload.
	Facts json.RawMessage `json:"facts,omitempty"`
	// Ended is reported by the agent if the rank's process ended in the case as the launch intends; there are no other
	// results.
	Ended *Ended `json:"ended,omitempty"`
	// Absent: the launch has no process of the rank in the case.
	Absent bool `json:"absent,omitempty"`
	// Unfinished: the rank was stopped in the case. The samples are those up to then, and no result.
	Unfinished bool `json:"unfinished,omitempty"`
	// Samples is the content of the rank's samples file; nil: it has none.
	Samples []byte `json:"-"`
}

// Encode returns what a rank measured in a case, with samples of each step.
func Encode(samples *results.Records, facts any) (*Part, error) {
	var content bytes.Buffer
	if err := samples.Write(&content); err != nil {
		return nil, err
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("encoding a rank's measurement: %w", err)
	}
	return &Part{Key: samples.Case, Rank: samples.Rank, Facts: text, Samples: content.Bytes()}, nil
}

// Ended is the intended end of a process.
type Ended struct {
	Signal int   `json:"signal"`
	At     int64 `json:"at"` // when it began to end: CLOCK_MONOTONIC of its host, in ns
}

// Measured are the measurements of all ranks of a launch in one case.
type Measured struct {
	Spec   Spec
	Nodes  []string         // by rank
	Caches map[string]int64 // size of the last-level cache in bytes by node; 0: unknown
	Parts  []*Part          // by rank
	// Observed are the observations of services with Observed set, by name.
	Observed map[string]Observation
	// Starting is the time in s from the first start of services for this launch until all were ready; 0: all ran.
	Starting float64
}

// Span is a time between timestamps of different hosts.
type Span struct {
	Of   string  // description
	Took float64 // s; 0: there is none
	// Bound is the largest error of the hosts' clocks, in s.
	Bound float64
}

// ForeignTable returns the columns that another tool prints for a case with these options, and the line above them.
// Cases share a table if both are equal.
type ForeignTable func(option func(name string) string) (columns []ForeignColumn, above string)

// ForeignBlock returns the lines that another tool prints for a case with these options and metrics, which are in the
// units of the Kind; ok is false for a metric that was not measured.
type ForeignBlock func(option func(name string) string, metric func(name string) (value float64, ok bool)) []string

// Foreign formats a metric times a factor as another tool does; "-" if it was not measured.
func Foreign(format string, metric func(name string) (float64, bool), name string, factor float64) string {
	v, ok := metric(name)
	if !ok {
		return "-"
	}
	return fmt.Sprintf(format, v*factor)
}

// ForeignColumn is a column that shows an option or a metric.
type ForeignColumn struct {
	Head           string
	Width          int
	Option, Metric string
	Scale          results.Scale // for Metric
}
