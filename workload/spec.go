package workload

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"weir/matrix"
	"weir/quantity"
	"weir/results"
)

// Spec is what a case asks of a launch: its options, decoded and checked. Its JSON is what
// the case's runner reads; nobody else does.
type Spec interface {
	Demand() Demand
}

// Large is a Spec with a part of megabytes, which cases of one launch often have in common.
// Such a part travels once.
type Large interface {
	Spec
	// Large is the JSON of that part, which the JSON of the Spec lacks; nil: there is none.
	Large() (json.RawMessage, error)
	// SameLarge says whether another case's Spec has the same part. It compares no contents.
	SameLarge(Spec) bool
}

// Demand is what a case needs of a cluster.
type Demand struct {
	Runner string // executes its ranks, see package engine
	Ranks  int    // processes
	// On is the node that each rank is on, by its place among those of the launch; nil: ranks are
	// spread over them in equal blocks.
	On      []int
	Threads int // of each
	// Own is what each rank has to itself beside what all of them have, by rank; nil: no rank has
	// anything else.
	Own []Own
	// Fabric connects its ranks; fabric.AutoName: weir chooses one; "": ranks have no peers.
	Fabric string
	// Lacks says what of the case a fabric cannot do, "" if it can do all; nil: each can.
	Lacks  func(fabric string) string
	NUMA   Placement // of the ranks' memory
	GPU    bool      // each rank's buffers are in the memory of a GPU, all or some
	Memory uint64    // bytes that a rank writes to before it is ready
	// Services must run during its launches, in the order in which they start.
	Services []Service
	// Values are names in its texts, beside those of services, that are expressions over metrics of
	// runs which are decided before, as run("NAME", CONDITION).METRIC.
	Values []string
	Etcd   bool // a part of the session's etcd is lent to its ranks
	// Reveals are variables of their environment whose values its ranks send to where the
	// scenario says.
	Reveals []string
}

// Own is what of a node one process has to itself.
type Own struct {
	GPUs int       `json:"gpus,omitempty"`
	NICs int       `json:"nics,omitempty"`
	CPUs int       `json:"cpus,omitempty"`
	NUMA Placement `json:"numa"` // the NUMA node whose processors it is kept on; Default: any
}

// NothingOwn is an Own that asks for nothing.
var NothingOwn = Own{NUMA: Default}

// String says what the process has, as reports show it.
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
	if o.NUMA != Default {
		parts = append(parts, "NUMA node "+o.NUMA.String())
	}
	return strings.Join(parts, ", ")
}

// Part is what one rank measured in one case.
type Part struct {
	Key  string `json:"key"`
	Rank int    `json:"rank"`
	// Facts are JSON of the workload's own form.
	Facts json.RawMessage `json:"facts,omitempty"`
	// Ended says that the rank's process ended in the case, as the launch says that it does: then
	// its agent says so, and there is nothing else.
	Ended *Ended `json:"ended,omitempty"`
	// Absent says that the rank has no process in the case, as the launch says.
	Absent bool `json:"absent,omitempty"`
	// Unfinished says that the rank was told to stop in the case: the samples are what it had until
	// then, and no result.
	Unfinished bool `json:"unfinished,omitempty"`
	// Samples are the content of the rank's samples file; nil: it has none.
	Samples []byte `json:"-"`
}

// Ended is the end of a process that is data.
type Ended struct {
	Signal int   `json:"signal"`
	At     int64 `json:"at"` // CLOCK_MONOTONIC of its host, in ns: when it began to end
}

// Measured is what all ranks of a launch measured in one case.
type Measured struct {
	Spec   Spec
	Nodes  []string         // by rank
	Caches map[string]int64 // size of the last-level cache in bytes by node; 0: unknown
	Parts  []*Part          // by rank
	// Observed is what was seen of services whose Observed is set, by name.
	Observed map[string]Observation
}

// Behaviour is what a workload does with its cases, besides the tables of its Kind.
type Behaviour struct {
	// Spec decodes and checks the options of a case. Options that are absent have their
	// defaults.
	Spec func(Values) (Spec, error)
	// Simulated says whether a case with these options runs in virtual time; nil: none does.
	Simulated func(option Getter) bool
	// Amount is what the options of a case amount to, for a person, where they do not say it
	// themselves; nil: they do.
	Amount func(Values) string
	// AmountOf are the options that Amount follows from; a case without the first has none.
	AmountOf []string
	// Moves is the matrix that an iteration of a case with these options moves, where no option
	// says it; nil: one does, or there is none.
	Moves func(options map[string]any) (*matrix.Matrix, error)
	// Together is what the cases of one launch do together, for a person; nil: each is
	// measured for itself.
	Together func(cases []Values) string
	// Timetable is when each case of a launch is due, from the start of an iteration of all
	// of them; nil: there is no such time.
	Timetable func(cases []Values) ([]quantity.Time, error)
	// Arrange tells the cases of a launch of each other before the launch; nil: they need
	// not know. timeout is that of a case, and before the most that the runner takes for
	// all of them together before it runs the first.
	Arrange func(cases []Spec, timeout time.Duration) (before time.Duration)
	// Reduce computes the metrics of a case in one launch, in the units of the Kind, and
	// sets the members of the launch that follow from what its ranks say.
	Reduce func(m *Measured, launch *results.Launch) (map[string]float64, error)
	// Beside are services that must run during launches of a case with these options, besides those that
	// its Spec demands; nil: there are none. Observe adds their metrics to those of a launch, and
	// says which proof does not hold.
	Beside  func(Values) ([]Service, error)
	Observe func(options Values, seen map[string]Observation, metrics map[string]float64) error
	// OverLaunch are metrics of a case with these options that are counted over its whole launch, as those of
	// services: cases that have any are alone in their launches, where the workload runs cases one after the
	// other. nil: there are none.
	OverLaunch func(Values) []string
	// OfLaunch are metrics that are measured once in a launch, whatever cases it has.
	OfLaunch []string
	// Recompute computes again those metrics that follow from the samples files alone, of
	// a case with these options as a document has them; nil: none does.
	Recompute func(options map[string]any, samples [][]byte) (map[string]float64, error)
	// Redefined are the metrics of Recompute that the version which made a launch computed in another way, so
	// that samples do not give what its document has; nil: there are none.
	Redefined func(launch *results.Launch) []string
	// Rounded computes the quantiles of Recompute as documents without a definition of
	// quantiles have them (see results.RoundedRankRule); nil: there are none.
	Rounded func(samples [][]byte) (map[string]float64, error)
	// OfCeiling is the share of what the path was found to be able to carry that a launch
	// reached. One far above 1 is impossible. nil, or not ok: it is not known.
	OfCeiling func(m results.MetricValues) (share float64, ok bool)
	// Carries is what the path was found to be able to carry, of a metric that it bounds; not ok
	// TooShort says whether a metric is a time in which the path cannot have carried what options ask
	// for, at the best that it was found to carry; nil: no metric is.
	TooShort func(metric string, options Values, value func(metric string) (float64, bool)) bool
	// of others; nil: it bounds none.
	Carries func(metric string, m results.MetricValues) (most float64, ok bool)
	// AcrossHosts is the time in a launch that begins and ends by the clocks of several
	// hosts; nil: there is none.
	AcrossHosts func(m results.MetricValues) Span
	// Starts are by how much ranks started apart in the typical iteration of a launch, and
	// what that iteration took. nil, or not ok: they need not start together.
	Starts func(m results.MetricValues) (apart, took float64, ok bool)
	// Expected is how many of what a quantile is counted by (results.Metric.CountedBy) a launch has, of a
	// case with these options, or the most that it may have; nil, or 0: the options do not tell.
	Expected func(options map[string]any, counted string) int64
	// Quantiles is how many values of each launch a quantile takes to decide anything. nil: the values
	// of all launches together are as many as Quantile.Enough says.
	Quantiles func(results.Quantile) int64
	// Undecidable says why what launches measured of a metric decides nothing, of a case with
	// these options: more launches would not help. Without metrics it says so before the first
	// launch, where the options tell. nil, or "": it decides.
	Undecidable func(options map[string]any, m MetricValues, metric string) string
	// Unmeasured says which option rules a metric out: launches of a case with these options have
	// none. nil, or "": they have it, or the options do not tell.
	Unmeasured func(options Values, metric string) string
	// UnmeasuredBy are the options, all of them of Checked, by which Unmeasured decides on a metric; none: all
	// cases have it. nil: it looks at all of Checked.
	UnmeasuredBy func(metric string) []string
	// Doubtful says why an assertion about a metric of a case with these options is of something else than it
	// seems to be. nil, or "": it is not.
	Doubtful func(options Values, metric string) string
	// Idle are the options that change nothing in a case with these options, with the reason of each. nil: all
	// change something.
	Idle func(options Values) map[string]string
	// Caution are the options with which figures of a case may mean something else than they seem to, with the
	// reason of each. nil: there are none.
	Caution func(options Values) map[string]string
	// Unfinished says what was done of a case whose ranks were told to stop, of their samples, for
	// a person; nil: ranks of the workload leave none.
	Unfinished func(spec Spec, samples [][]byte) (string, error)
	// Invalid says why what a launch measured is not of what was to be measured, as where a client
	// was slower than its server; such a case is an error. nil, or "": it is.
	Invalid func(options map[string]any, m MetricValues) string
	// Disturbed says what kept a launch from measuring in time, as a busy host does with a client; nil, or a nil
	// result: nothing.
	Disturbed func(m MetricValues) *results.Disturbance
	// Tables are the tables of other tools that cases can be shown as, by the tool's name.
	Tables map[string]ForeignTable
	// Passed is the metric that counts the ranks which have run and checked a case; "": none does.
	Passed string
	// Blocks are what other tools print of one case, by the tool's name.
	Blocks map[string]ForeignBlock
}

// Span is a time that is measured from one host to another.
type Span struct {
	Of   string  // what takes it, for a person
	Took float64 // s; 0: there is none
	// Bound is what is not known of the hosts' clocks, in s.
	Bound float64
}

// ForeignTable gives the columns that another tool has for a case with these options, and what
// to say above them of the case. Cases of which both are the same share a table.
type ForeignTable func(option func(name string) string) (columns []ForeignColumn, above string)

// ForeignBlock gives the lines that another tool prints of a case with these options and metrics,
// which are in the units of the Kind; ok is false for a metric that was not measured.
type ForeignBlock func(option func(name string) string, metric func(name string) (value float64, ok bool)) []string

// Foreign is a metric, times a factor, as another tool prints it; "-" where it was not measured.
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
	Scale          results.Scale // of Metric
}
