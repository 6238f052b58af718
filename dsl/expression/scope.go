// Package expression compiles what is judged after a run: assertions and the
// conditions of when and where. A parser of its own reads assertions, which are
// lowered to plain data before anything runs. expr-lang reads conditions, in which
// quantities stand behind names of the same length.
package expression

import (
	"weir/assertion"
	"weir/workload"
)

// Scope is what where, when and assertions see of a case.
type Scope struct {
	Options workload.Values
	Axes    map[string]any
	Host    *Host // nil while planning without an inventory

	// The rest is for assertions only.
	Key   string            // of the case
	Texts map[string]string // canonical texts of its axes
	Cases Cases             // to look for other cases in; nil where there are none
}

// Cases finds cases for run("…") and for aggregates.
type Cases interface {
	// Find lists the keys of the cases of a run that are not excluded, in sweep
	// order, that have the canonical texts of `at` (axes that the run lacks do not
	// count) and satisfy where (nil: all). The caller must not change the result.
	Find(run string, at map[string]string, where *Condition) []string
	// Scope is what is known of the case of a key that Find gave.
	Scope(key string) (Scope, bool)
}

// Host is the inventory as conditions see it.
type Host struct {
	Fabrics           []string // names available on every node
	Nodes, GPUs, CPUs int      // GPUs and CPUs: of the node that has the fewest
}

// Reach says what one lowered assertion is about.
type Reach int

// The reaches of an assertion.
const (
	EachCase Reach = iota // one case: one assertion for each
	Along                 // a trend: the cases along TrendAxis, one for each combination of the other axes
	// an aggregate or quantifier: the cases over OverAxes (none: all axes), one for each combination of the others
	Over
)

// Uses are the names that an assertion depends on.
type Uses struct {
	Knobs    []string // options and axes, in where, in terms and as columns of the reference table
	Runs     []string // other runs, by run("…")
	Others   bool     // other cases of its own run, by an aggregate
	Baseline bool
}

// Reference is the table of reference values of one run.
type Reference struct {
	Name        string // of the table's file, for messages
	Environment string // fingerprint of where the values were measured; "": not said
	Rows        []ReferenceRow

	index *referenceIndex // made with the first look-up
}

// ReferenceRow is a row of a reference table.
type ReferenceRow struct {
	At     map[string]string  // canonical texts by axis or option
	Values map[string]float64 // by metric, in base units
	// Noise is what the row says of how metrics vary, by metric; "" is of all in the row.
	Noise map[string]assertion.Noise
}
