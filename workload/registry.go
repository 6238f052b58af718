package workload

import (
	"slices"

	"weir/results"
)

var kinds []*Kind

// Register adds a workload. The package of a workload does so in its init; package kinds
// imports them all.
func Register(k *Kind) {
	if _, taken := Lookup(k.Name); taken {
		panic("two workloads " + k.Name)
	}
	kinds = append(kinds, k)
	results.RegisterRounded(k.Name, k.OnceRounded)
}

// Kinds are all workloads, in the order in which they were registered.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Lookup finds a workload by its name.
func Lookup(name string) (*Kind, bool) {
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, false
	}
	return kinds[i], true
}
