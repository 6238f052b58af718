package workload

import (
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

var kinds []*Kind

// Register adds a workload. Packages of workloads call it in their init; package kinds imports them all.
func Register(k *Kind) {
	if _, taken := Lookup(k.Name); taken {
		panic("two workloads " + k.Name)
	}
	kinds = append(kinds, k)
	if k.Check == nil && len(k.Checked) > 0 {
		k.Check = func(v option.Values) error {
			_, err := k.Spec(v)
			return err
		}
	}
	if r, ok := k.Behaviour.(Rounder); ok {
		results.RegisterRounded(k.Name, r.OnceRounded())
	}
	if r, ok := k.Behaviour.(Redefiner); ok {
		results.RegisterRates(k.Name, r.OnceFullSlots())
	}
}

// Kinds returns all workloads in registration order.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Lookup finds a workload by its name.
func Lookup(name string) (*Kind, bool) {
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, false
	}
	return kinds[i], true
}
