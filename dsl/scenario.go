// The types of a loaded scenario.

package dsl

import (
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/deadline"
	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Scenario is one scenario file, checked, with its variables resolved.
type Scenario struct {
	Name        string
	Description string
	File        string // as the caller named it
	Variables   []*Variable
	Cluster     Cluster
	Checks      []*Check
	Artifacts   []*Artifact
	Setup       []*Command // of the session, in file order
	Teardown    []*Command
	Baseline    string // results document, relative to the working directory; "" without one
	// BaselineMissing says what happens if the baseline lacks a value: skip, or "" for an error.
	BaselineMissing string
	BaselineAt      hcl.Range // of the name of the document
	// Inconclusive is the verdict of gates that stay open and do not set their own.
	Inconclusive assertion.Inconclusive
	Runs         []*Run   // those of included files first, then in file order
	Claims       []*Claim // likewise
	// Deadline bounds reading and planning; nil: none.
	Deadline *deadline.Deadline
	// Links are the nominal bandwidths of the links of the site in GB/s, by name. Plans do not
	// contain them.
	Links map[string]float64
}

// Variable is a declared variable with its value in this load.
type Variable struct {
	Name        string
	Type        string
	Description string
	Text        string // the value's canonical text
	Range       hcl.Range
}

// Command is a setup or teardown command.
type Command struct {
	Name    string   // unique in its list; by default the program's name
	On      string   `key:"on"` // every node | first node
	Argv    []string `key:"command"`
	Env     map[string]string
	Secrets map[string]string // environment variables with secret("…") as value
	Timeout time.Duration     `key:"timeout"`
	Range   hcl.Range

	named bool // the name is the author's
}

// Retry says which failed launches are repeated.
type Retry struct {
	Times int           `key:"times"`
	On    []string      // kinds of failures: results.FailureKinds
	Wait  time.Duration `key:"wait"`
}

// Run is a named block of a scenario: a workload over a sweep.
type Run struct {
	Name        string
	Prefix      string    // that includes add to it and to the names that it uses
	Range       hcl.Range // of its name
	Workload    *workload.Kind
	Metrics     []workload.Metric // of the workload and of the run; nil: the run declares none
	Axes        []*Axis           // in file order; none: a single point
	Sweep       Sweep
	Needs       []*Need
	While       *Need                    // the run during which this one is background load; nil: none
	When        *Condition               // nil: always
	WhenWritten string                   // the same with ${…}, as the file has it
	WhenRange   hcl.Range                // its place; zero without one
	Launches    []int                    // numbers of launches after which the sequential gate looks, ascending
	Timeout     time.Duration            // of one launch of one case
	Phases      map[string]time.Duration // deadlines of ready, connect, run, verify, teardown, where given
	Retry       *Retry                   // nil: never
	Stage       string                   // heading in reports; "": none
	Tags        []string                 // also those of its file
	MayFail     *assertion.MayFail       // why its cases may be errors; nil: they may not
	// Setup and Teardown surround all launches of the run, the Launch ones each launch.
	Setup, Teardown, LaunchSetup, LaunchTeardown []*Command
	Place                                        Place
	Asserts                                      []*Assert
	Values                                       []*RunValue // that its texts mention
	// unused are axes without effect on the run, except perhaps in values of other runs.
	unused []*Axis
	// Secrets are environment variables with a secret value, read where a process starts: the name
	// of an environment variable there, or file:PATH.
	Secrets map[string]string

	settings       []*Setting
	refusedMetrics []string  // declared metrics that are wrong
	lacksOptions   bool      // it has none, and a wrong key that may be meant to be these
	lacksAxes      bool      // errors were reported that may leave axes or their values out
	sequence       *sequence // nil: the workload has none
	metadata       string    // the file of the sequence as the scenario names it; "": none
	eval           *evaluator
}

// Axis is one dimension of a sweep.
type Axis struct {
	Name   string
	Range  hcl.Range
	Values []AxisValue // distinct, in the order of the file
	Item   bool        // made from the items of a sequence, not from the sweep
}

// AxisValue is one value of an axis.
type AxisValue struct {
	Value any    // the Go type of the option that it sets, otherwise string, float64, bool or quantity.Written
	Text  string // canonical text, used in case keys
	Range hcl.Range
}

// Sweep combines the axes of a run to points.
type Sweep struct {
	Root     *SweepNode // nil: the run has a single point without axes
	Exclude  []*Exclusion
	Include  []*Point
	Order    Order
	MaxCases int
	Range    hcl.Range
}

// SweepNode is an axis, or a combination of nodes. Every node has rows of values for some of the
// run's axes.
type SweepNode struct {
	Op      SweepOp
	Axis    int         // of AxisNode: index into Run.Axes
	Values  []int       // of AxisNode: indices into its Values
	Ranges  []hcl.Range // of Values
	Members []*SweepNode
	Range   hcl.Range
}

// SweepOp is how a node combines its members.
type SweepOp int

// The operations of a sweep.
const (
	AxisNode    SweepOp = iota
	ProductNode         // every combination, the first member outermost
	ZipNode             // row by row; all members have the same number of rows
	ConcatNode          // the rows of one member after those of the previous; all members have the same axes
)

// Exclusion removes points from a sweep.
type Exclusion struct {
	When   *Condition
	Reason string
	Range  hcl.Range
}

// Point is a point that include adds: for each of Run.Axes the index of its value.
type Point struct {
	Values []int
	Range  hcl.Range
}

// Order is the order of the launches of a run.
type Order struct {
	By   string // given | random | interleave
	Axis string // of interleave; "": over all launch groups
	Seed uint64 // of random
}

// Need is an edge of the graph: this run waits for another.
type Need struct {
	Run   string `key:"run"`
	On    string `key:"on"` // success | failed | always
	Range hcl.Range
}

// Assert is one compiled assertion of a run; each case lowers it.
type Assert struct {
	Name, Text string
	Severity   assertion.Severity `key:"severity"`
	Range      hcl.Range

	Halo     float64 `key:"halo"` // share of the bounds, see assertion.Assertion
	Multiple string  `key:"multiple"`
	Decide   *assertion.Decide
	XFail    *assertion.XFail

	leftOut  bool // its when is false
	compiled *expression.Assertion
	place    located
	runs     map[string]*Run // by the names in its file
}

// Scope is a case as conditions and assertions see it.
type Scope = expression.Scope

// Host is the inventory as conditions see it.
type Host = expression.Host

// The coverage of one lowered assertion.
const (
	PerCase   = expression.PerCase
	AlongAxis = expression.AlongAxis
	OverCases = expression.OverCases
)

// Condition is a compiled when or where expression.
type Condition = expression.Condition

// CompileCondition compiles a condition that was read from a plan.
func CompileCondition(text string) (*Condition, error) { return expression.CompileCondition(text) }
