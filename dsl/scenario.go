// Package dsl reads scenarios. Two syntaxes, YAML and HCL, are one language:
// both become an hcl.Body, and everything after that (decoding, expressions,
// diagnostics) is one path. What comes out is a typed Scenario with source
// ranges, or diagnostics that point at the characters that are wrong.
package dsl

import (
	"time"

	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/dsl/deadline"
	"weir/dsl/expression"
	"weir/workload"
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
	// BaselineMissing is what becomes of what a baseline lacks: skip, or "" for an error.
	BaselineMissing string
	BaselineAt      hcl.Range // of the name of the document
	// Inconclusive is what becomes of gates that stay open, where they do not say so themselves.
	Inconclusive assertion.Inconclusive
	Runs         []*Run // those of included files first, then in file order
	// Deadline is when reading and planning must be over; nil: never.
	Deadline *deadline.Deadline
	// Links are the nominal bandwidths of the links of the site in GB/s, by name: no plan has them.
	Links map[string]float64
}

// Variable is a declared variable with the value that it has in this load.
type Variable struct {
	Name        string
	Type        string
	Description string
	Text        string // the value's canonical text
	Range       hcl.Range
}

// Check is a command that must succeed on every node before anything runs.
type Check struct {
	Name     string
	Command  []string
	Severity string // error | skip | warn: what it means that it fails
	Remedy   string // what to do about it; "" if the author does not say
	Range    hcl.Range
}

// Command is a setup or teardown command.
type Command struct {
	Name    string // unique in its list; by default the program's name
	On      string // every node | first node
	Argv    []string
	Env     map[string]string
	Secrets map[string]string // environment variables whose value is a secret("…")
	Timeout time.Duration
	Range   hcl.Range

	named bool // the author gave the name
}

// Retry says which failed launches are made again.
type Retry struct {
	Times int
	On    []string // kinds of failures: results.FailureKinds
	Wait  time.Duration
}

// Run is a named block of a scenario: a workload over a sweep.
type Run struct {
	Name      string
	Prefix    string    // that includes put before it and before the names that it uses
	Range     hcl.Range // of its name
	Workload  *workload.Kind
	Metrics   []workload.Metric // of the workload and of the run; nil: the run declares none
	Axes      []*Axis           // in file order; none: a single point
	Sweep     Sweep
	Needs     []*Need
	While     *Need                    // the run as whose background load this one runs; nil: none
	When      *Condition               // nil: always
	WhenRange hcl.Range                // its place; zero without one
	Launches  []int                    // looks of the sequential gate, ascending
	Timeout   time.Duration            // of one launch of one case
	Phases    map[string]time.Duration // deadlines of ready, connect, run, verify, teardown, where given
	Retry     *Retry                   // nil: never
	Stage     string                   // heading that it is shown under; "": none
	MayFail   *assertion.MayFail       // why its cases may be errors; nil: they may not
	// Setup and Teardown surround all launches of the run, the Launch ones each launch.
	Setup, Teardown, LaunchSetup, LaunchTeardown []*Command
	Place                                        Place
	Asserts                                      []*Assert
	Values                                       []*RunValue // that its texts mention
	// unused are axes on which nothing depends but, perhaps, the values of other runs.
	unused []*Axis
	// Secrets are environment variables whose value is read where a process
	// starts: the name of an environment variable there, or file:PATH.
	Secrets map[string]string

	settings []*Setting
	sequence *sequence // nil: the workload has none
	metadata string    // the file of the sequence, as the scenario names it; "": none
	eval     *evaluator
}

// Axis is one dimension of a sweep.
type Axis struct {
	Name   string
	Range  hcl.Range
	Values []AxisValue // each once, in the order in which the file mentions them
	Item   bool        // made of the items of a sequence, and not of the sweep
}

// AxisValue is one value of an axis.
type AxisValue struct {
	Value any    // the Go type of the option that it sets, otherwise string, float64, bool or quantity.Written
	Text  string // canonical text, used in case keys
	Range hcl.Range
}

// Sweep says which points the axes of a run make.
type Sweep struct {
	Root     *SweepNode // nil: the run has the single point without axes
	Exclude  []*Exclusion
	Include  []*Point
	Order    Order
	MaxCases int
	Range    hcl.Range
}

// SweepNode is an axis, or a combination of nodes. Every node gives rows of
// values for some of the run's axes.
type SweepNode struct {
	Op      SweepOp
	Axis    int         // of AxisNode: index into Run.Axes
	Values  []int       // of AxisNode: indices into its Values
	Ranges  []hcl.Range // of Values
	Members []*SweepNode
	Range   hcl.Range
}

// SweepOp says how a node is made of its members.
type SweepOp int

// The operations of a sweep.
const (
	AxisNode    SweepOp = iota
	ProductNode         // every combination, the first member outermost
	ZipNode             // row by row; all members have equally many
	ConcatNode          // the rows of one after those of the other; all members have the same axes
)

// Exclusion takes points out of a sweep.
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

// Order says in which order the launches of a run come.
type Order struct {
	By   string // given | random | interleave
	Axis string // of interleave; "": over all launch groups
	Seed uint64 // of random
}

// Need is an edge: this run waits for another.
type Need struct {
	Run   string
	On    string // success | failed | always
	Range hcl.Range
}

// Assert is one assertion of a run as compiled; each case lowers it.
type Assert struct {
	Name, Text string
	Severity   assertion.Severity
	Range      hcl.Range

	Halo     float64 // share of the bounds, see assertion.Assertion
	Multiple string
	Decide   *assertion.Decide
	XFail    *assertion.XFail

	compiled *expression.Assertion
	place    located
	runs     map[string]*Run // by the names that its file gives them
}

// Scope is what conditions and assertions see of a case.
type Scope = expression.Scope

// Host is the inventory as conditions see it.
type Host = expression.Host

// What one lowered assertion is about.
const (
	EachCase = expression.EachCase
	Along    = expression.Along
	Over     = expression.Over
)

// Condition is a compiled when or where expression.
type Condition = expression.Condition

// CompileCondition compiles a condition that was read from a plan.
func CompileCondition(text string) (*Condition, error) { return expression.CompileCondition(text) }
