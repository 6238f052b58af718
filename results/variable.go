package results

import (
	"cmp"
	"slices"
)

// Variable is a library variable of a launch's ranks: an environment variable that changes a library's
// behaviour.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value" doc:"*** where it holds a secret."`
	From  string `json:"from" schema:"enum=shell|node|seat|scenario|secret"`
	// Ranks have this value, ascending; none: all ranks of the launch.
	Ranks []int `json:"ranks,omitempty" doc:"Those that have it so; none: all."`
}

// String is the variable's value with its origin.
func (v Variable) String() string { return cmp.Or(v.Value, `""`) + " (" + v.From + ")" }

// Origins of a variable.
const (
	FromShell    = "shell"    // the shell of weir run, passed to every node
	FromNode     = "node"     // the node's own environment
	FromBinding  = "seat"     // the rank's exclusive resources
	FromScenario = "scenario" // its env
	FromSecret   = "secret"   // a secret of the scenario
)

// Known reports whether the origin is one of these.
func (v Variable) Known() bool {
	return slices.Contains([]string{FromShell, FromNode, FromBinding, FromScenario, FromSecret}, v.From)
}

// Equal reports whether two are the same variable of the same ranks.
func (v Variable) Equal(o Variable) bool {
	return v.Name == o.Name && v.Value == o.Value && v.From == o.From && slices.Equal(v.Ranks, o.Ranks)
}

// MergeVariables returns each variable of ranks once, by name, with the ranks that have it; none if all
// `ranks` ranks of the launch do. ranks is 0 if the launch has others on other nodes.
func MergeVariables(list []Variable, ranks int) []Variable {
	var out []Variable
	at := map[[3]string]int{}
	for _, v := range list {
		k := [3]string{v.Name, v.Value, v.From}
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			out = append(out, Variable{Name: v.Name, Value: v.Value, From: v.From})
		}
		out[i].Ranks = append(out[i].Ranks, v.Ranks...)
	}
	for i := range out {
		slices.Sort(out[i].Ranks)
		if out[i].Ranks = slices.Compact(out[i].Ranks); len(out[i].Ranks) == ranks {
			out[i].Ranks = nil
		}
	}
	slices.SortFunc(out, func(a, b Variable) int {
		return cmp.Or(
			cmp.Compare(a.Name, b.Name), slices.Compare(a.Ranks, b.Ranks), cmp.Compare(a.Value, b.Value),
			cmp.Compare(a.From, b.From))
	})
	return out
}
