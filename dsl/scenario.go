// Package dsl reads scenarios. Two syntaxes, YAML and HCL, are one language:
// both become an hcl.Body, and everything after that (decoding, expressions,
// diagnostics) is one path. What comes out is a typed Scenario with source
// ranges, or diagnostics that point at the characters that are wrong.
package dsl

import (
	"time"

	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
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
	Runs        []*Run // in file order
}

// Variable is a declared variable with the value that it has in this load.
type Variable struct {
	Name        string
	Type        string
	Description string
	Text        string // the value's canonical text
	Range       hcl.Range
}

// Cluster is what the scenario needs to run on.
type Cluster struct {
	Nodes         int
	DistinctHosts bool
	GPUsPerNode   int
}

// Check is a command that must succeed on every node before anything runs.
type Check struct {
	Name    string
	Command []string
	Range   hcl.Range
}

// Run is a named block of a scenario: a workload over a sweep.
type Run struct {
	Name     string
	Range    hcl.Range // of its name
	Workload *workload.Kind
	Axes     []*Axis // in file order; none: a single point
	Needs    []*Need
	When     *Condition    // nil: always
	Launches []int         // looks of the sequential gate, ascending
	Timeout  time.Duration // of one launch of one case
	Asserts  []*Assert

	options []*setting // in the order of the workload's options, defaults merged in
	env     []*setting // by name, defaults merged in
	eval    *evaluator
}

// Axis is one dimension of a sweep.
type Axis struct {
	Name   string
	Range  hcl.Range
	Values []AxisValue
}

// AxisValue is one value of an axis.
type AxisValue struct {
	Value any    // the Go type of the option that it sets, otherwise string, float64 or bool
	Text  string // canonical text, used in case keys
	Range hcl.Range
}

// Need is an edge: this run waits for the success of another.
type Need struct {
	Run   string
	Range hcl.Range
}

// Assert is one assertion of a run as compiled; each case lowers it.
type Assert struct {
	Name, Text string
	Severity   assertion.Severity
	Range      hcl.Range

	compiled *expression.Assertion
	place    located
}

// Scope is what conditions and assertions see of a case.
type Scope = expression.Scope

// Host is the inventory as conditions see it.
type Host = expression.Host

// Condition is a compiled when or where expression.
type Condition = expression.Condition

// CompileCondition compiles a condition that was read from a plan.
func CompileCondition(text string) (*Condition, error) { return expression.CompileCondition(text) }
