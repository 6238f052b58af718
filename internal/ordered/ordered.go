// Package ordered has lists without duplicates and groups, both in the order in which values were first added.
package ordered

import (
	"iter"
	"slices"
)

// Append appends a value to a list that lacks it.
func Append[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// Groups are lists of values by key. The zero value is empty and ready to use.
type Groups[K comparable, V any] struct {
	keys []K
	of   map[K][]V
}

// Add appends a value to the group of a key.
func (g *Groups[K, V]) Add(key K, v V) {
	if g.of == nil {
		g.of = map[K][]V{}
	}
	if _, known := g.of[key]; !known {
		g.keys = append(g.keys, key)
	}
	g.of[key] = append(g.of[key], v)
}

// Keys returns the keys of the groups.
func (g *Groups[K, V]) Keys() []K { return g.keys }

// Of returns the group of a key.
func (g *Groups[K, V]) Of(key K) []V { return g.of[key] }

// All yields the keys with their groups.
func (g *Groups[K, V]) All() iter.Seq2[K, []V] {
	return func(yield func(K, []V) bool) {
		for _, key := range g.keys {
			if !yield(key, g.of[key]) {
				return
			}
		}
	}
}

// AddOnce adds a value to a group that lacks it.
func AddOnce[K, V comparable](g *Groups[K, V], key K, v V) {
	if !slices.Contains(g.of[key], v) {
		g.Add(key, v)
	}
}
