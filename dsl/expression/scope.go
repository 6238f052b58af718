// Package expression compiles assertions and the conditions of when and where. Its own parser reads
// assertions, which are lowered to plain data before anything runs. expr-lang evaluates conditions,
// after quantities are replaced by names of the same length.
package expression

import (
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results/assertion"
)

// Scope is a case as conditions and assertions see it.
type Scope struct {
	Options option.Values
	Axes    map[string]any
	Host    *Host // nil while planning without an inventory

	// The rest is for assertions only.
	Key   string            // of the case
	Texts map[string]string // canonical texts of its axes
	Cases Cases             // finds other cases; nil if there are none
}

// Cases finds cases for run("…") and for aggregates.
type Cases interface {
	// Find returns the keys of the cases of a run that are not excluded, in sweep order, with the
	// canonical texts in `at` (axes that the run lacks are ignored) and satisfying where (nil:
	// all). The caller must not modify the result.
	Find(run string, at map[string]string, where *Condition) []string
	// Scope returns the case of a key that Find returned.
	Scope(key string) (Scope, bool)
}

// Host is the inventory as conditions see it.
type Host struct {
	Fabrics           []string // names available on every node
	Backends          []string // of NIXL that every node can load
	Nodes, GPUs, CPUs int      // the smallest numbers of all nodes
}

// Grouping tells how the cases of a run are grouped into lowered assertions.
type Grouping int

// The ways to group cases.
const (
	PerCase   Grouping = iota // one assertion for each case
	AlongAxis                 // a trend: one for the cases along TrendAxis, for each combination of the other axes
	// OverCases is an aggregate or quantifier: one for the cases over OverAxes (none: all axes), for
	// each combination of the other axes.
	OverCases
)

// Uses are the names that an assertion depends on.
type Uses struct {
	Knobs    []string // options and axes in where, in terms, and as columns of the reference table
	Runs     []string // other runs, by run("…")
	Others   bool     // whether an aggregate uses other cases of the run
	Baseline bool
}

// Reference is the table of reference values of one run.
type Reference struct {
	Name        string // of the table's file, for messages
	Environment string // fingerprint of the environment of the measurement; "": unknown
	Rows        []ReferenceRow

	index *referenceIndex // built at the first look-up
}

// ReferenceRow is a row of a reference table.
type ReferenceRow struct {
	At     map[string]string  // canonical texts by axis or option
	Values map[string]float64 // by metric, in base units
	// Noise is the noise in this row by metric; "" is for all metrics of the row.
	Noise map[string]assertion.Noise
}
