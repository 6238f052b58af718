// Package expression compiles what is judged after a run: assertions and the
// conditions of when and where. They are expr-lang with quantity literals and
// three comparisons (within, between, increases/decreases with) that are
// lowered to plain data before anything runs.
package expression

import "weir/workload"

// Scope is what where, when and assertions see of a case.
type Scope struct {
	Options workload.Values
	Axes    map[string]any
	Host    *Host // nil while planning without an inventory
}

// Host is the inventory as conditions see it.
type Host struct {
	Fabrics           []string // names available on every node
	Nodes, GPUs, CPUs int      // GPUs and CPUs: of the node that has the fewest
}
